"""The HTML report in a real browser, as its readers use it: with a mouse, by keyboard, on a phone, without scripts, on paper."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from paritygate.outcomes.artifact import Artifact
from paritygate.reports.html import page as html_page
from tests.support.hostile import MARKER, TEXTS, hostile
from tests.support.rich_artifact import GREEN, RETRY, TODAY
from tests.support.swept import of_rules

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, PROGRAMS)), "")
pytestmark = pytest.mark.skipif(not CHROMIUM, reason=f"there is no {' or '.join(PROGRAMS)} on PATH (`apt-get install chromium`)")
DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}

Open = Callable[..., Page]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start the distribution's own browser; nothing is downloaded."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()


@pytest.fixture
def open_page(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Open an artifact's page, in a context of its own; what the browser complains of, and all it asks for, is an error."""
    complaints: list[str] = []
    contexts: list[BrowserContext] = []

    def opened(artifact: Artifact, **options: Any) -> Page:
        file = tmp_path / f"page-{len(contexts)}.html"
        file.write_text(html_page.render(artifact, "parity_report.json"), encoding="utf-8")
        context = browser.new_context(**{"viewport": DESKTOP, **options})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda asked: complaints.append(asked.url) if asked.url != file.as_uri() else None)
        page.goto(file.as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


def ids_of(page: Page) -> list[str]:
    """List the ids that the table shows now."""
    titles: list[str] = page.locator("#grid-rows button").evaluate_all("buttons => buttons.map(button => button.title)")
    return titles


def test_the_verdict_and_what_to_do_come_first(rich: Artifact, open_page: Open) -> None:
    page = open_page(rich)
    assert page.locator("h1").inner_text().split() == ["nondeterminism", "exit", "2"]
    assert page.locator(".steps li").all_inner_texts() == [
        "1 test nondeterminism-everywhere: fix the test, or the bug that it shows\ncauses: 1 chance",
        "2 tests nondeterminism: fix the test, delete it, or freeze it on this evidence\ncauses: 1 order, 1 not known",
        "4 tests coupling: fix or narrow the patch\ncauses: 1 case_sensitive, 1 timezone, 1 worktree, 1 not known",
        "1 test consistent-red: fix the patch",
    ]


def test_the_table_is_filtered_by_label_cause_file_and_words(rich: Artifact, open_page: Open) -> None:
    page = open_page(rich)
    assert page.locator("#count").inner_text() == "23 of 23 tests"
    page.locator("#filter-label").select_option(label="coupling (4)")
    assert len(ids_of(page)) == 4
    page.locator("#filter-cause").select_option(label="timezone (1)")
    assert ids_of(page) == [TODAY]
    page.get_by_role("button", name="Clear").click()
    page.locator("#filter-file").select_option(label="tests/test_prices.py (12)")
    assert set(ids_of(page)) == set(GREEN)
    page.locator("#filter-text").fill("ROUNDED 1]")
    assert set(ids_of(page)) == {GREEN[0], GREEN[10]}
    assert page.locator("#count").inner_text() == "2 of 23 tests"


def test_a_count_in_the_table_of_labels_shows_its_tests(rich: Artifact, open_page: Open) -> None:
    page = open_page(rich)
    page.get_by_role("link", name="1 test nondeterminism-everywhere, show them").click()
    expect(page.locator("#count")).to_have_text("1 of 23 tests")
    assert ids_of(page) == [RETRY]


def test_no_label_without_tests_is_in_the_way_and_all_are_explained_below(rich: Artifact, open_page: Open) -> None:
    page = open_page(rich)
    labels = page.locator("table.labels tbody th")
    assert "undecided" not in labels.all_inner_texts()
    assert labels.count() == 6
    every = page.locator("table.diagnoses tbody tr")
    assert not every.first.is_visible()
    page.get_by_text("How labels are told apart").click()
    assert every.count() == 7
    assert every.filter(has_text="undecided").inner_text().split()[:2] == ["undecided", "0"]


@pytest.mark.parametrize("width", [390, 400])
def test_a_phone_shows_what_to_do_and_why_without_scrolling_sideways(rich: Artifact, open_page: Open, width: int) -> None:
    page = open_page(rich, viewport={"width": width, "height": 844})
    assert page.evaluate("(box => box.scrollWidth <= box.clientWidth)(document.querySelector('table.labels').parentElement)")
    boxes = [each.bounding_box() for each in page.locator(".steps li").all()]
    assert all(box is not None and box["x"] >= 0 and box["x"] + box["width"] <= width for box in boxes)
    assert page.get_by_text("causes: 1 case_sensitive, 1 timezone, 1 worktree, 1 not known").is_visible()


def test_letters_say_what_colours_say(rich: Artifact, open_page: Open) -> None:
    row = open_page(rich).locator("#grid-rows tr").first
    assert row.locator("td.cell").all_inner_texts() == ["F\nfailed", "P\npassed", "F\nfailed", "P\npassed"]
    assert row.locator("th").get_attribute("scope") == "row"


def test_the_keyboard_reaches_and_opens_every_row(rich: Artifact, open_page: Open) -> None:
    page = open_page(rich)
    page.locator("#grid-box").focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.title") == RETRY
    page.keyboard.press("ArrowDown")
    page.keyboard.press("End")
    last = page.evaluate("document.activeElement.title")
    assert last == "tests/test_model.py::test_on_a_gpu"
    page.keyboard.press("Enter")
    assert page.locator("#told").inner_text().startswith(last)
    assert "needs a GPU" in page.locator("#told").inner_text()
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.closest('details').id") == "test-1"


def test_differing_values_are_marked_and_the_command_can_be_copied(rich: Artifact, open_page: Open) -> None:
    page = open_page(rich)
    card = page.locator("details.card", has_text=TODAY)
    card.locator("summary").first.click()
    assert card.locator("mark").all_inner_texts() == ["29", "30"]
    copy = card.get_by_role("button")
    copy.click()
    expect(card.get_by_text("Copied")).to_be_visible()


def test_twenty_thousand_tests_are_drawn_a_window_at_a_time(large: Artifact, open_page: Open) -> None:
    page = open_page(large)
    assert page.locator("#count").inner_text() == "20,000 of 20,000 tests"
    assert (
        page.evaluate("document.getElementById('grid-box').clientHeight") / 34 < page.locator("#grid-rows button").count() < 100
    )
    page.evaluate("document.getElementById('grid-box').scrollTop = 1e9")
    expect(page.locator("#grid-rows button[title$='[9999]']").first).to_be_attached()
    assert page.locator("#grid-rows tr").count() < 100
    page.locator("#filter-text").fill("test_case[19999]")
    assert ids_of(page) == ["tests/part_19/test_module_399.py::TestThing::test_case[19999]"]


def test_without_scripts_every_test_that_asks_for_something_is_there(large: Artifact, open_page: Open) -> None:
    page = open_page(large, java_script_enabled=False)
    asking = sum(count for label, count in large.labels.items() if label != "consistent-green")
    assert page.locator("details.card").count() + page.locator("ul.rest li").count() == asking
    assert not page.locator("#explorer").is_visible()


def test_a_phone_scrolls_tables_in_their_own_boxes(rich: Artifact, open_page: Open) -> None:
    page = open_page(rich, viewport=PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert page.evaluate("(box => box.scrollWidth > box.clientWidth)(document.getElementById('grid-box'))")


def test_where_no_cause_is_known_there_is_no_column_for_one(large: Artifact, rich: Artifact, open_page: Open) -> None:
    assert "cause" in open_page(rich).locator("#grid thead").inner_text()
    page = open_page(large)
    assert "cause" not in page.locator("#grid thead").inner_text()
    assert page.get_by_label("Cause").is_hidden()


def test_paper_shows_every_finding_dark_on_light(rich: Artifact, open_page: Open) -> None:
    page = open_page(rich, color_scheme="dark")
    colour = "getComputedStyle(document.body).color"
    assert page.evaluate(colour) == "rgb(231, 232, 234)"
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate(colour) == "rgb(29, 32, 36)"
    cards = page.locator("details.card")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert cards.count() == page.locator("details.card[open]").count()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details.card[open]").count() == 2
    assert page.pdf().startswith(b"%PDF")


def test_no_table_is_wider_than_the_paper(rich: Artifact, open_page: Open) -> None:
    page = open_page(rich, viewport={"width": 718, "height": 1000})  # A4 with margins
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    page.emulate_media(media="print")
    widths = page.evaluate(
        "[...document.querySelectorAll('table')].map(each => each.scrollWidth - each.parentElement.clientWidth)"
    )
    assert len(widths) > 3
    assert max(widths) <= 1


@pytest.mark.parametrize(("scheme", "viewport"), [("light", DESKTOP), ("dark", PHONE)], ids=["light-desktop", "dark-phone"])
def test_nothing_is_in_the_way_of_a_screen_reader_or_of_weak_eyes(
    rich: Artifact, open_page: Open, scheme: str, viewport: dict[str, int]
) -> None:
    page = open_page(rich, color_scheme=scheme, viewport=viewport, bypass_csp=True)
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    found = Axe().run(page, options={"resultTypes": ["violations"]})
    assert [(each["id"], [node["html"][:200] for node in each["nodes"][:3]]) for each in found.response["violations"]] == []


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_table_of_a_sweep_is_in_nobodys_way(open_page: Open, viewport: dict[str, int]) -> None:
    page = open_page(of_rules(("a", "UTC"), ("b", "Asia/Kolkata")), viewport=viewport, bypass_csp=True)
    rows = page.locator("table.swept tbody tr")
    assert [row.locator(".o").all_inner_texts() for row in rows.all()] == [
        ["F\nfailed", "P\npassed"],
        ["P\npassed", "F\nfailed"],
        ["P\npassed", "P\npassed"],
    ]
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    found = Axe().run(page, options={"resultTypes": ["violations"]})
    assert [(each["id"], [node["html"][:200] for node in each["nodes"][:3]]) for each in found.response["violations"]] == []


def test_no_text_of_a_test_becomes_a_script_or_an_element(rich: Artifact, open_page: Open) -> None:
    for text in (text for text in TEXTS if set("<>\"'") & set(text)):
        page = open_page(hostile(rich, text))
        assert page.evaluate(f"typeof window.{MARKER}") == "undefined"
        assert page.locator("script").count() == 2
        assert page.locator("img").count() == 0
        assert page.locator("#count").inner_text() == "23 of 23 tests"
        page.close()
