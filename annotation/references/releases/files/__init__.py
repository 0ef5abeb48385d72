"""A release as files: for programs, for spreadsheets, for BLEU tools, for the Hugging Face Hub."""

from annotation.references.releases.files.card import data_card
from annotation.references.releases.files.kinds import FILES, ReleaseFile, file_chunks, file_fingerprint, file_name

__all__ = ["FILES", "ReleaseFile", "data_card", "file_chunks", "file_fingerprint", "file_name"]
