"""What is asked of a seat, and what a press does: one sentence, one button, an answer."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

from tests.displays import scenes
from tests.displays.browser import LANGUAGES, READY, SIZES, Site, each, opened, put, show, speak, text

pytestmark = pytest.mark.browser

PRIMARY = "#panel .press-primary"


def sent(page: Page) -> list[dict[str, Any]]:
    return list(page.evaluate("harness.sent"))


def answered(view: dict[str, Any], id: str, code: str = "", rule: str = "") -> dict[str, Any]:
    view["me"]["answers"] = [{"id": id, "ok": not code, "code": code, "rule": rule, "params": {}}]
    return view


@pytest.mark.parametrize(
    ("name", "seat", "sentence"),
    [
        ("taking", "E", "请拿第 10–11 墩"),
        ("taking", "W", "东家拿南边第 10–11 墩"),
        ("taking_bagua", "W", "请拿四边第 3–4 墩"),
        ("taking_136", "E", "请拿第 9 墩上面一张"),
        ("flowers_read", "E", "补花 2 张，从牌尾拿"),
        ("flowers_read", "S", "东家补花 2 张"),
        ("flip", "E", "开金：数到 7，请翻开"),
        ("flip", "N", "开金：数到 7，请东家翻开"),
        ("gold_face", "E", "数到 7，翻开的是什么牌？"),
        ("dice_check", "S", "东家掷出 5+1，对吗？"),
        ("dice_check", "E", "您输入了 5+1，等大家看过"),
        ("count", "E", "少了 1 张牌"),
        ("fault", "E", "进牌口卡牌了（南边）"),
        ("stopped", "E", "机器已急停，请勿伸手"),
        ("link_lost", "E", "与机器失去联系，正在重连"),
        ("paused", "E", "前台暂停了这一桌"),
        ("sorting", "E", "正在洗牌，请稍等"),
        ("over", "E", "南家抢金"),
        ("ended", "E", "今天打完了，辛苦各位"),
        ("opening_read", "S", "金是三筒，开局有胡吗？"),
        ("opening_read", "W", "金是三筒，开局有胡吗？"),
    ],
)
def test_one_sentence_says_what_to_do(page: Page, name: str, seat: str, sentence: str) -> None:
    show(page, name, seat)
    assert text(page, ".say") == sentence


def test_sentences_have_all_three_scripts(page: Page) -> None:
    said = []
    for language in LANGUAGES:
        speak(page, language)
        show(page, "taking")
        said.append(text(page, ".say"))
    assert said == ["请拿第 10–11 墩", "請拿第 10–11 墩", "Please take stacks 10–11"]


def test_a_press_is_sent_once_and_shown_as_pending_until_it_is_answered(page: Page) -> None:
    view = show(page, "taking")
    page.click(PRIMARY)
    page.click(PRIMARY)
    (said,) = sent(page)
    assert said == {"id": said["id"], "epoch": 1, "want": "3.take-0.1", "action": "ok", "params": {}}
    assert 0 < len(said["id"]) <= 40
    assert page.get_attribute(PRIMARY, "data-state") == "pending"
    put(page, answered(view, said["id"]), "E")
    assert page.get_attribute(PRIMARY, "data-state") == "ok"


def test_a_press_is_shown_within_100_ms(page: Page) -> None:
    show(page, "taking")
    state, spent = page.evaluate(
        """() => {
          const button = document.querySelector("#panel .press-primary");
          const begun = performance.now();
          button.click();
          return [button.dataset.state, performance.now() - begun];
        }"""
    )
    assert state == "pending" and spent < 100


def test_a_refusal_is_worded_with_its_rule(page: Page) -> None:
    view = show(page, "flowers", "N")
    page.click('[data-flower="2f"]')
    (said,) = sent(page)
    assert (said["action"], said["params"]) == ("flower", {"tile": "2f"})
    put(page, answered(view, said["id"], "flower_taken", "R7"), "N")
    assert text(page, ".answer") == "没有成功：这张花别家已经点了（规则 R7）"
    assert page.get_attribute('[data-flower="2f"]', "data-state") == "refused"
    assert page.evaluate("measure.troubles()") == []


def test_a_refusal_nobody_has_worded_names_its_code(page: Page) -> None:
    view = show(page, "taking")
    page.click(PRIMARY)
    put(page, answered(view, sent(page)[0]["id"], "brand_new"), "E")
    assert "brand_new" in text(page, ".answer")


def test_without_an_answer_for_five_seconds_it_can_be_pressed_again_under_the_same_id(page: Page) -> None:
    page.evaluate("harness.setClock(1000)")
    show(page, "taking")
    page.click(PRIMARY)
    page.evaluate("harness.setClock(5900)")
    page.click(PRIMARY)
    assert len(sent(page)) == 1
    page.evaluate("harness.setClock(6000)")
    assert page.get_attribute(PRIMARY, "data-state") == "slow"
    assert "5 秒" in text(page, ".answer")
    page.click(PRIMARY)
    first, second = sent(page)
    assert first == second
    assert page.get_attribute(PRIMARY, "data-state") == "pending"


def test_a_new_epoch_forgets_what_was_pressed(page: Page) -> None:
    view = show(page, "taking")
    page.click(PRIMARY)
    page.evaluate("view => harness.show(view, 'E', 2)", view)
    assert page.get_attribute(PRIMARY, "data-state") is None
    page.click(PRIMARY)
    first, second = sent(page)
    assert (first["epoch"], second["epoch"]) == (1, 2)
    assert first["id"] != second["id"]


def test_the_dice_pad_sends_both_dice_with_one_touch(page: Page) -> None:
    """Every throw of two dice has its own key, the larger die first; a second touch of it says nothing more."""
    show(page, "dice_pad")
    throws = [[high, low] for high in range(1, 7) for low in range(1, high + 1)]
    assert sorted(each(page, ".dice-choice", "data-dice")) == [f"{high}+{low}" for high, low in throws]
    for high, low in throws:
        show(page, "idle")
        page.evaluate("harness.sent.length = 0")
        show(page, "dice_pad")
        key = page.locator(f'[data-dice="{high}+{low}"]')
        assert key.locator(".die").evaluate_all("dice => dice.map(die => die.dataset.pips)") == [str(high), str(low)]
        key.click()
        key.click()
        (said,) = sent(page)
        assert (said["want"], said["action"], said["params"]) == ("3.dice-0.1", "dice", {"dice": [high, low]})


def test_a_slip_on_the_dice_pad_is_taken_back_by_who_made_it_or_objected_to(page: Page) -> None:
    view = show(page, "dice_pad")
    page.click('[data-dice="5+1"]')
    for seat, words in (("E", "我输错了"), ("S", "不对"), ("W", "不对"), ("N", "不对")):
        page.evaluate("harness.reset()")
        show(page, "dice_check", seat)
        page.locator("#panel .press", has_text=words).click()
        assert [one["action"] for one in sent(page)] == ["object"]
    # Asked for anew, the same throw may be said again.
    view["me"]["wants"][0]["id"] = "3.dice-0.2"
    put(page, view, "E")
    page.evaluate("harness.sent.length = 0")
    page.click('[data-dice="5+1"]')
    assert [(one["want"], one["params"]) for one in sent(page)] == [("3.dice-0.2", {"dice": [5, 1]})]


def test_dice_of_a_power_cut_can_be_entered_by_who_saw_them(page: Page) -> None:
    show(page, "dice_lost", "N")
    assert "南家说 5+1" in text(page, ".hint") and "西家没看见" in text(page, ".hint")
    page.click('[data-dice="5+1"]')
    assert (sent(page)[0]["action"], sent(page)[0]["params"]) == ("dice", {"dice": [5, 1]})
    page.evaluate("harness.sent.length = 0")
    page.get_by_text("都没看见", exact=True).click()
    assert (sent(page)[0]["action"], sent(page)[0]["params"]) == ("nobody", {})


@pytest.mark.parametrize(("frame", "tab"), [("large", None), ("small", "筒")])
def test_the_picker_sends_the_face_with_one_touch(chromium: Site, frame: str, tab: str | None) -> None:
    """All faces of the set at once, on a small display a suit at a time; the others check what was entered."""
    with opened(chromium, SIZES[frame], "reduce") as page:
        show(page, "gold_face")
        assert page.locator(".face-choice").count() == 3 * 9 + 1 + 8
        if tab:
            page.get_by_role("button", name=tab, exact=True).click()
        page.locator(".face-choice:visible").nth(2 if tab else 11).click()
        (said,) = sent(page)
        assert (said["want"], said["action"], said["params"]) == ("3.gold_face-0.1", "face", {"tile": "3p"})


def test_flower_fields_say_whose_each_flower_is(page: Page) -> None:
    show(page, "flowers", "E")
    assert each(page, ".flower-field", "data-flower") == [f"{n}f" for n in range(1, 9)]
    assert page.is_disabled('[data-flower="3f"]')
    assert text(page, '[data-flower="3f"] .owner') == "西"
    page.click('[data-flower="1f"]')
    page.click('[data-flower="5f"]')
    page.get_by_text("补数 +1").click()
    page.get_by_text("没有花了").click()
    assert [(one["action"], one["params"]) for one in sent(page)] == [
        ("unflower", {"tile": "1f"}), ("flower", {"tile": "5f"}), ("tail_shift", {"by": 1}), ("ok", {}),
    ]  # fmt: skip


def test_flowers_can_be_touched_while_the_gold_is_rolled_for(page: Page) -> None:
    show(page, "gold_roll", "E")
    page.click(PRIMARY)
    page.click('[data-flower="5f"]')
    page.get_by_text("补数 −1").click()
    assert [(one["want"], one["action"]) for one in sent(page)] == [
        ("3.roll-0.1", "roll"), ("3.tail-0.1", "flower"), ("3.tail-0.1", "tail_shift"),
    ]  # fmt: skip


def test_of_several_wins_of_the_opening_one_is_chosen(page: Page) -> None:
    show(page, "opening_two", "S")
    assert text(page, ".hint") == "您可以：抢金、三金倒"
    assert page.locator("#panel .press").all_text_contents() == ["胡", "过"]
    page.locator("#panel .press").nth(0).click()
    assert sent(page) == []
    page.click('#panel .pick:has-text("三金倒")')
    assert (sent(page)[0]["action"], sent(page)[0]["params"]) == ("claim", {"way": "sanjindao"})


def test_what_was_entered_can_be_agreed_to_or_objected_to(page: Page) -> None:
    show(page, "gold_check", "S")
    assert text(page, ".say") == "翻出三筒，对吗？"
    assert page.locator("#panel .press").all_text_contents() == ["对", "不对"]
    show(page, "gold_check", "E")
    assert page.locator("#panel .press").all_text_contents() == ["我输错了"]


def test_start_offers_the_rules_and_layouts(page: Page) -> None:
    show(page, "idle")
    page.locator(".step").nth(1).click()
    page.locator(".layout-choice").nth(1).click()
    page.click(PRIMARY)
    assert sent(page)[0]["params"] == {"rules": "new-xiamen-120-base", "layout": "bagua"}


def test_another_display_is_confirmed_or_refused(page: Page) -> None:
    show(page, "notices")
    assert "482915" in text(page, '[data-card="pairing.482915"]')
    page.get_by_text("不是", exact=True).click()
    (said,) = sent(page)
    assert (said["want"], said["action"]) == ("", "confirm_device")
    assert said["params"] == {"code": "482915", "ok": False}


def test_a_countdown_runs_on_the_pages_own_clock(page: Page) -> None:
    show(page, "dice_check", "S")
    assert text(page, ".countdown") == "4 秒"
    shown = page.evaluate(
        """async () => {
          const node = document.querySelector(".countdown");
          const until = performance.now() + 5000;
          while (node.textContent === "4 秒" && performance.now() < until) {
            await new Promise(done => setTimeout(done, 50));
            harness.page.tick();
          }
          return node.textContent;
        }"""
    )
    assert shown == "3 秒"


def test_missing_tiles_are_told_side_by_side(page: Page) -> None:
    show(page, "count")
    assert page.locator(".sides .off").all_text_contents() == ["✗西边：29 张，应为 30 张"]
    assert "椅下" in text(page, ".hint")
    page.click(PRIMARY)
    assert sent(page)[0]["action"] == "retry"


def test_a_fault_that_does_not_stop_the_game_is_told_beside_it(page: Page) -> None:
    show(page, "busy_sorting")
    assert text(page, ".say") == "请拿第 10–11 墩"
    assert "光眼脏了（西边）" in text(page, ".warning")
    assert "洗牌 53" in text(page, ".top-hand")


def test_an_unknown_fault_is_told_by_its_code(page: Page) -> None:
    view = scenes.scene("fault")
    view["me"]["wants"] = []
    fault = {"code": "new_fault", "severity": "critical", "mechanism": "", "side": ""}
    view["machine"] |= {"problem": None, "faults": [fault]}
    put(page, view, "E")
    assert "new_fault" in text(page, ".say")


def test_what_the_machine_cannot_know_is_asked_with_two_answers(page: Page) -> None:
    """Who has said yes can still say no; what others said is shown."""
    view = scenes.scene("fault")
    view["machine"] |= {"problem": {"kind": "failed", "operation": "walls_raise", "fault": "unknown", "side": ""}}
    params = {"operation": "walls_raise", "fault": "unknown", "side": "", "step": "walls_raise-0", "said": []}
    asked = {"id": "3.stands-1536.1", "verb": "stands", "params": params, "left_ms": None}
    want = {**asked, "actions": ["stands", "retry"]}
    view["me"]["wants"] = [want]
    view["machine"]["faults"] = []
    put(page, view, "E")
    assert text(page, ".say") == "四边牌墙都升好了吗？" and "手别伸进去" in text(page, ".hint")
    page.click(PRIMARY)
    assert (sent(page)[0]["action"], sent(page)[0]["want"]) == ("stands", want["id"])
    said = {**want, "params": {**params, "said": ["E"]}, "actions": ["retry"]}
    view["me"]["wants"] = [said]
    put(page, view, "E")
    assert "说是" in text(page, ".hint") and page.locator(PRIMARY).count() == 0


def test_an_emergency_stop_is_cleared_by_two_presses(page: Page) -> None:
    asked = {"id": "3.stopped-0.1", "verb": "stopped", "params": {"reason": "button"}, "actions": ["clear"]}
    want = {**asked, "left_ms": None}
    view = scenes.scene("stopped", "E")
    view["me"]["wants"] = [want, *view["me"]["wants"]]
    put(page, view, "E")
    assert text(page, ".say") == "机器已急停，请勿伸手"
    page.click('#panel button[data-action="choose"]')
    assert sent(page) == []
    page.click('#panel button[data-action="clear"]')
    (said,) = sent(page)
    assert (said["want"], said["action"]) == ("3.stopped-0.1", "clear")


def test_a_flipped_tile_that_no_reader_saw_is_chosen_by_hand(page: Page) -> None:
    view = scenes.scene("flip", "E")
    for want in view["me"]["wants"]:
        if want["verb"] == "flip":
            want["actions"] = ["face"]
    put(page, view, "E")
    page.click('#panel button[data-action="choose"]')
    page.click('#panel .face-choice:has([data-face="3m"])')
    (said,) = sent(page)
    assert (said["action"], said["params"]) == ("face", {"tile": "3m"})


def test_every_seat_has_the_same_buttons_in_the_opening_window(page: Page) -> None:
    for seat in "SW":
        show(page, "opening_read", seat)
        assert {"claim", "pass"} <= set(each(page, "#panel .buttons button", "data-action"))


def test_buttons_that_come_of_themselves_let_a_thumb_on_its_way_pass(chromium: Site) -> None:
    """Somebody else has pressed a moment before: the same place now means something else."""
    with opened(chromium, SIZES["large"], "reduce") as page:
        page.goto(f"{chromium.address}/harness/harness.html?guard=60000")
        page.wait_for_selector(READY)
        show(page, "taking")
        show(page, "flowers")
        guarded = "getComputedStyle(document.querySelector('#panel .press-primary')).pointerEvents"
        assert page.evaluate(guarded) == "none"
        # A flower more leaves the buttons as they are; what this display has chosen itself answers at once.
        page.goto(f"{chromium.address}/harness/harness.html?guard=1")
        page.wait_for_selector(READY)
        show(page, "book")
        page.wait_for_selector("#panel:not(.fresh)")
        page.locator("#panel .press-primary").click()
        assert page.locator("#panel.fresh").count() == 0
        view = scenes.scene("book")
        view["me"]["wants"][0]["id"] += "9"
        put(page, view, "E")
        assert page.locator("#panel.fresh").count() == 0
        assert text(page, ".say") == "谁胡了，怎样胡？"
