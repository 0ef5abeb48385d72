from django.urls import path

from annotation.projects.views import account, audit, invitations, projects

urlpatterns = [
    path("account/tokens/", account.account_tokens, name="account-tokens"),
    path("account/sessions/", account.account_sessions, name="account-sessions"),
    path("account/sessions/end/", account.account_sessions_end, name="account-sessions-end"),
    path("account/sessions/<int:pk>/end/", account.account_session_end, name="account-session-end"),
    path("account/tokens/<int:pk>/revoke/", account.account_token_revoke, name="account-token-revoke"),
    path("projects/", projects.project_list, name="project-list"),
    path("projects/new/", projects.project_create, name="project-create"),
    path("p/<slug:project_slug>/edit/", projects.project_edit, name="project-edit"),
    path("p/<slug:project_slug>/delete/", projects.project_delete, name="project-delete"),
    path("p/<slug:project_slug>/members/", projects.project_members, name="project-members"),
    path("p/<slug:project_slug>/members/<int:pk>/", projects.member_change, name="project-members-change"),
    path("p/<slug:project_slug>/members/<int:pk>/remove/", projects.member_remove, name="project-members-remove"),
    path("p/<slug:project_slug>/invitations/", invitations.invitation_create, name="invitation-create"),
    path("p/<slug:project_slug>/invitations/<int:pk>/revoke/", invitations.invitation_revoke, name="invitation-revoke"),
    path("join/<str:token>/", invitations.invitation, name="invitation"),
    path("p/<slug:project_slug>/audit/", audit.project_audit, name="project-audit"),
    path("p/<slug:project_slug>/campaigns/<int:pk>/audit/", audit.campaign_audit, name="campaign-audit"),
]
