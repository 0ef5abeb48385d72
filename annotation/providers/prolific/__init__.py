from annotation.providers.prolific.client import Prolific

__all__ = ["Prolific"]
