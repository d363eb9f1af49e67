"""What people do in the dashboard: search, look, ask why, correct, undo, steer. With a mouse and without one."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cocli.demo.town.campaign import CAMPAIGN
from cocli.service.web.access import Role
from tests.web.looking import AXE

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.web.conftest import Town
    from tests.web.looking import Reader

WIDE: dict[str, Any] = {"viewport": {"width": 1280, "height": 900}}
AT = f"?campaign={CAMPAIGN}"


def rows(page: Page) -> list[str]:
    return page.locator("tr[data-id] .c-name a").all_inner_texts()


def company_ids(page: Page) -> list[str]:
    found = page.locator("tr[data-id]").evaluate_all("all => all.map((row) => row.dataset.id)")
    return list(found)


def readable(reader: Reader) -> list[str]:
    return reader.violations() if AXE.is_file() else []


@pytest.mark.timeout(900)
@pytest.mark.parametrize("mode", ["live", "static"])
def test_search_facets_preview_and_export_of_exactly_this_view(
    town: Town, browser: Any, mode: str, tmp_path: Path
) -> None:
    reader = town.reader(browser, mode, **WIDE)
    page = reader.open(f"{AT}&view=prospects")
    page.locator("tr[data-id]").first.wait_for()
    all_names = rows(page)
    assert len(all_names) >= 8
    word = all_names[0].split()[0]
    page.keyboard.press("/")
    page.keyboard.type(word.lower())
    page.wait_for_url(f"**q={word.lower()}*")
    page.locator("tr[data-id]").nth(len(all_names) - 1).wait_for(state="detached")
    some = rows(page)
    assert some == [name for name in some if word in name]
    assert len(some) < len(all_names)
    page.get_by_label("Search prospects").fill("")
    page.get_by_label("E-mail: yes").click()
    page.wait_for_url("**has=email*")
    page.get_by_text("has email").wait_for()
    page.go_back()
    page.locator("tr[data-id]").nth(len(all_names) - 1).wait_for()

    page.goto(f"{reader.address}/{AT}&view=prospects&has=email&sort=name")
    page.locator("tr[data-id]").first.wait_for()
    shown = rows(page)
    page.get_by_text("Export", exact=True).click()
    with page.expect_download() as waited:
        page.locator(".menu[open]").get_by_text("CSV", exact=True).click()
    waited.value.save_as(tmp_path / "view.csv")
    with open(tmp_path / "view.csv", encoding="utf-8-sig", newline="") as file:
        assert [line["name"] for line in csv.DictReader(file)] == shown

    page.locator("tr[data-id]").first.focus()
    page.keyboard.press("j")
    page.keyboard.press("Space")
    page.wait_for_url("**sel=*")
    preview = page.get_by_label("Preview")
    preview.get_by_role("heading", name=shown[1]).wait_for()
    assert readable(reader) == []
    page.locator(f'tr[data-id="{company_ids(page)[1]}"]').focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", level=1, name=shown[1]).wait_for()
    assert readable(reader) == []
    assert reader.complaints == []
    assert reader.foreign() == []


@pytest.mark.timeout(900)
@pytest.mark.parametrize("mode", ["live", "static"])
def test_why_shows_the_rule_and_the_spot_on_the_page(town: Town, browser: Any, mode: str) -> None:
    reader = town.reader(browser, mode, **WIDE)
    page = reader.open(f"{AT}&view=prospects&has=email")
    page.locator("tr[data-id]").first.wait_for()
    drawer = page.get_by_role("dialog")
    frame = drawer.locator("iframe.captured")
    for company in company_ids(page):  # an address that was spelled out in words is marked nowhere
        page.goto(f"{reader.address}/{AT}&view=company&id={company}&why=primary_email")
        drawer.get_by_text("What was seen").wait_for()
        frame.content_frame.locator("body > *").first.wait_for()
        if mark_of(frame).count():
            break
    value = drawer.locator(".why-value").inner_text()
    assert str(mark_of(frame).text_content()).lower() == value
    assert frame.get_attribute("sandbox") == ""
    assert readable(reader) == []
    page.keyboard.press("Escape")
    drawer.wait_for(state="detached")
    assert "why=" not in page.url
    assert reader.complaints == []
    assert reader.foreign() == []


def mark_of(frame: Any) -> Any:
    return frame.content_frame.locator("mark#value-primary_email")


@pytest.mark.timeout(900)
def test_two_editors_at_once_see_both_versions_and_an_edit_can_be_undone(town: Town, browser: Any) -> None:
    first, second = (town.reader(browser, "live", Role.EDITOR, **WIDE) for _ in range(2))
    first.open(f"{AT}&view=prospects")
    first.page.locator("tr[data-id]").first.wait_for()
    query = f"{AT}&view=company&id={company_ids(first.page)[0]}"
    for reader in (first, second):
        reader.open(query)
        reader.page.get_by_role("button", name="Edit", exact=True).click()
    write(first.page, "called")
    toast = first.page.get_by_label("What was done")
    toast.get_by_text("cocli").first.wait_for()
    first.page.locator("h1 + .badge", has_text="called").wait_for()
    write(second.page, "won")
    conflict = second.page.get_by_role("alert")
    conflict.get_by_text("Somebody else changed this").wait_for()
    assert conflict.locator("tbody td").all_inner_texts() == ["called", "won"]
    assert readable(second) == []
    conflict.get_by_role("button", name="Write mine over it").click()
    second.page.locator("h1 + .badge", has_text="won").wait_for()
    second.page.get_by_role("button", name="Undo").last.click()
    second.page.locator("h1 + .badge", has_text="called").wait_for()
    assert first.complaints + second.complaints == []


@pytest.mark.timeout(900)
def test_two_who_change_one_note_see_both_texts(town: Town, browser: Any) -> None:
    first, second = (town.reader(browser, "live", Role.EDITOR, **WIDE) for _ in range(2))
    first.open(f"{AT}&view=prospects")
    first.page.locator("tr[data-id]").first.wait_for()
    query = f"{AT}&view=company&id={company_ids(first.page)[1]}"
    first.open(query)
    first.page.get_by_label("Title of the note").fill("A call")
    first.page.get_by_label("New note").fill("Nobody answered.")
    first.page.get_by_role("button", name="Add the note").click()
    for reader in (first, second):
        if reader is second:
            reader.open(query)
        reader.page.get_by_role("button", name="Edit the note A call").click()
    first.page.get_by_label("Text of the note").fill("They want an offer.")
    first.page.get_by_role("button", name="Save").click()
    first.page.locator(".prose", has_text="They want an offer.").wait_for()
    second.page.get_by_label("Text of the note").fill("They moved.")
    second.page.get_by_role("button", name="Save").click()
    conflict = second.page.get_by_role("alert")
    conflict.get_by_text("Somebody else changed this note").wait_for()
    assert conflict.locator("tbody td").all_inner_texts() == ["They want an offer.", "They moved."]
    assert readable(second) == []
    conflict.get_by_role("button", name="Write mine over it").click()
    second.page.locator(".prose", has_text="They moved.").wait_for()
    second.page.get_by_role("button", name="Undo").last.click()
    second.page.locator(".prose", has_text="They want an offer.").wait_for()
    assert first.complaints + second.complaints == []


def write(page: Page, status: str) -> None:
    page.get_by_role("textbox", name="status").fill(status)
    page.get_by_role("button", name="Save").click()


@pytest.mark.timeout(900)
def test_keys_alone_go_everywhere(town: Town, browser: Any) -> None:
    reader = town.reader(browser, "live", **WIDE)
    page = reader.open(f"{AT}&view=dashboard")
    reader.settled()
    for key, heading in {"q": "Queues", "s": "Config", "d": "Dashboard", "h": "Campaigns"}.items():
        page.keyboard.press("g")
        page.keyboard.press(key)
        page.get_by_role("heading", level=1, name=heading).wait_for()
    page.go_back()
    page.get_by_role("heading", level=1, name="Dashboard").wait_for()
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keys").wait_for()
    assert readable(reader) == []
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Go to").fill("cover")
    assert readable(reader) == []
    page.keyboard.press("Enter")
    page.get_by_role("heading", level=1, name="Coverage").wait_for()
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Go to").fill("flor")
    page.keyboard.press("Enter")
    page.wait_for_url("**view=prospects*q=flor*")
    page.locator("tr[data-id]").first.wait_for()
    assert reader.complaints == []


@pytest.mark.timeout(900)
def test_a_basket_is_sent_and_a_refused_change_says_why(town: Town, browser: Any) -> None:
    reader = town.reader(browser, "live", **WIDE)
    page = reader.open(f"{AT}&view=config")
    page.get_by_label("New phrase").fill("wedding florist")
    page.get_by_label("New phrase").press("Enter")
    page.get_by_label("New exclusion").fill("place:nonsense")
    page.get_by_label("New exclusion").press("Enter")
    basket = page.locator("#basket")
    assert basket.locator("code").all_inner_texts() == ["add-query 'wedding florist'", "add-exclude place:nonsense"]
    assert readable(reader) == []
    basket.get_by_role("button", name="Apply 2 changes").click()
    page.get_by_label("What was done").get_by_text("not a place id").wait_for()
    sent = page.locator(".followed")
    sent.get_by_text("wedding florist").first.wait_for()
    assert "cocli" in sent.locator(".command code").inner_text()
    assert sent.locator(".step.on").first.inner_text().startswith("sent")
    assert readable(reader) == []
    assert reader.complaints == []


@pytest.mark.timeout(900)
def test_a_viewer_is_offered_no_change(town: Town, browser: Any) -> None:
    reader = town.reader(browser, "live", Role.VIEWER, **WIDE)
    page = reader.open(f"{AT}&view=config")
    page.get_by_text("Exclusions").wait_for()
    assert page.locator("#basket, form").count() == 0
    reader.open(f"{AT}&view=queues")
    reader.settled()
    assert page.get_by_role("button", name="Pause").count() == 0
    reader.open(f"{AT}&view=prospects")
    page.locator("tr[data-id]").first.wait_for()
    assert page.locator("input[type=checkbox]").count() == 0
    reader.open(f"{AT}&view=access")
    page.get_by_text("for admins").wait_for()
    assert reader.complaints == []
