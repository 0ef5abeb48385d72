from annotation.recruitment.providers.mturk.client import PRODUCTION, SANDBOX, SUBMIT_ORIGINS, MechanicalTurk

__all__ = ["PRODUCTION", "SANDBOX", "SUBMIT_ORIGINS", "MechanicalTurk"]
