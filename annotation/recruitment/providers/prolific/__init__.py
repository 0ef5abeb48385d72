from annotation.recruitment.providers.prolific.client import Prolific

__all__ = ["Prolific"]
