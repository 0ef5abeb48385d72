from annotation.providers.mturk.client import MechanicalTurk

__all__ = ["MechanicalTurk"]
