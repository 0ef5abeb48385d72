"""This app's endpoints, under /api/v1/."""

from rest_framework.routers import BaseRouter

from correlations.api import helped, joint, parameter_studies, studies, verifications


def register(router: BaseRouter) -> None:
    router.register("projects/<slug:project_slug>/studies", studies.StudiesViewSet, "study")
    router.register(
        "projects/<slug:project_slug>/parameter-studies",
        parameter_studies.ParameterStudiesViewSet,
        "parameter-study",
    )
    campaign = "projects/<slug:project_slug>/campaigns/<int:campaign_pk>"
    router.register(campaign, helped.HelpedViewSet, "helped-campaign")
    router.register("projects/<slug:project_slug>/joint-studies", joint.JointStudiesViewSet, "joint-study")
    router.register("projects/<slug:project_slug>/verifications", verifications.VerificationsViewSet, "verification")
