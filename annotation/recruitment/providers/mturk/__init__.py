from annotation.recruitment.providers.mturk.client import MechanicalTurk

__all__ = ["MechanicalTurk"]
