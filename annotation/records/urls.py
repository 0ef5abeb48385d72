from django.urls import URLPattern, path

from annotation.records.views import erasure, records

PROJECT = "p/<slug:project_slug>/"
RECORDS = f"{PROJECT}campaigns/<int:pk>/records/"

urlpatterns: list[URLPattern] = [
    path(RECORDS, records.campaign_records, name="campaign-records"),
    path(f"{RECORDS}record.zip", records.campaign_record_download, name="campaign-record-download"),
    path(f"{RECORDS}<slug:name>.<str:file_format>", records.campaign_record_table, name="campaign-record-table"),
    path(f"{RECORDS}methods/", records.campaign_record_methods, name="campaign-record-methods"),
    path(f"{RECORDS}amendments/", records.campaign_record_amendments, name="campaign-record-amendments"),
    path(f"{RECORDS}datasheet/", records.campaign_record_datasheet, name="campaign-record-datasheet"),
    path(f"{PROJECT}raters/held/", erasure.rater_held, name="rater-held"),
    path(f"{PROJECT}raters/<int:pk>/erase/", erasure.rater_erase, name="rater-erase"),
]
