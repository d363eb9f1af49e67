"""The front door for Python: what `cocli.open` gives, and the names that annotations need.

It is a facade over the use cases of `cocli.app` and decides nothing itself. What is listed here is stable, and
docs/python.md says what that means. Modules elsewhere in the package may change with any release.
"""

from cocli.api.answer import Answer
from cocli.api.campaign import CampaignData
from cocli.api.company import EditableCompany
from cocli.api.data import Data
from cocli.api.documents import DocumentAccess
from cocli.api.table import Table

__all__ = ["Answer", "CampaignData", "Data", "DocumentAccess", "EditableCompany", "Table"]
