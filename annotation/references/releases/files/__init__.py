"""A release as files: for programs, for spreadsheets, for BLEU tools, for the Hugging Face Hub."""

from annotation.services.release_files.card import data_card
from annotation.services.release_files.kinds import FILES, ReleaseFile, file_chunks, file_fingerprint, file_name

__all__ = ["FILES", "ReleaseFile", "data_card", "file_chunks", "file_fingerprint", "file_name"]
