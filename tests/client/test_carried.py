"""What a request carries, seen from its messages, in the shapes that harnesses send."""

from typing import Any

import pytest

from waybread_client import carried, head_id


def test_openai_chat_messages_of_the_role_tool() -> None:
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "[#0001] is an id"},
        {"role": "user", "content": "Fix the bug. [#0002]"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "call_0", "type": "function", "function": {"name": "read", "arguments": '{"path":"a.ts"}'}},
                {"id": "call_1", "type": "function", "function": {"name": "bash", "arguments": '{"command":"ls"}'}},
            ],
        },
        {
            "role": "tool",
            "tool_call_id": "call_0",
            "content": "[#0012 src/a.ts lines 1-2 of 2 sha 1c9e04ab]\n1: import …\n2: x",
        },
        {"role": "tool", "tool_call_id": "call_1", "content": [{"type": "text", "text": "[#000d]\na.ts\nb.ts"}]},
        {"role": "assistant", "content": "[#0044] is what I saw."},
    ]
    assert carried(messages) == ["#0012", "#000d"]


def test_openai_responses_items() -> None:
    items: list[dict[str, Any]] = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "[#0001]"}]},
        {"type": "function_call", "call_id": "c1", "name": "shell", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "[#0003]\nok"},
        {"type": "function_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "[#0004]\nok"}]},
        {"type": "custom_tool_call_output", "call_id": "c3", "output": "[#0005 a.ts sha 7d0a91c3]\n@@ -1 +1 @@"},
    ]
    assert carried(items) == ["#0003", "#0004", "#0005"]


def test_anthropic_messages_with_tool_result_blocks() -> None:
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "hello [#0001]"},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "[#0002] I will read it."},
                {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "a.ts"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": "[#0007 a.ts empty sha e3b0c442]"},
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_2",
                    "is_error": True,
                    "content": [{"type": "text", "text": "[#0008]\nno such file"}],
                },
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_3",
                    "content": [
                        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}},
                        {"type": "text", "text": "[#0009]\na picture"},
                    ],
                },
                {"type": "tool_result", "tool_use_id": "toolu_4"},
                {"type": "text", "text": "[#000a] said by the user"},
            ],
        },
    ]
    assert carried(messages) == ["#0007", "#0008", "#0009"]


def test_a_result_whose_text_was_replaced_is_not_carried() -> None:
    messages: list[dict[str, Any]] = [
        {"role": "tool", "tool_call_id": "a", "content": "[Old tool result content cleared]"},
        {"role": "tool", "tool_call_id": "b", "content": "Note: [#0002]\ntext"},
        {"role": "tool", "tool_call_id": "c", "content": " [#0003]\ntext"},
        {"role": "tool", "tool_call_id": "d", "content": "\n[#0004]\ntext"},
        {
            "role": "tool",
            "tool_call_id": "e",
            "content": [{"type": "text", "text": "n"}, {"type": "text", "text": "[#0005]"}],
        },
        {"role": "tool", "tool_call_id": "f", "content": None},
    ]
    assert carried(messages) == []


def test_an_id_is_named_once_in_the_order_of_the_messages() -> None:
    messages = [{"role": "tool", "content": f"[{result}]\nx"} for result in ("#0002", "#0001", "#0002")]
    assert carried(messages) == ["#0002", "#0001"]


def test_no_messages_carry_nothing_and_things_that_are_no_messages_are_passed_over() -> None:
    assert carried([]) == []
    assert carried(["[#0001]", None, 7, {"role": "tool"}, {"content": "[#0001]"}]) == []


@pytest.mark.parametrize(
    "text, result",
    [
        ("[#0001]", "#0001"),
        ("[#0001]\ntext", "#0001"),
        ("[#0001] No stored result #ffff in this session.", "#0001"),
        ("[#0019 src/app.ts lines 50-80 of 340 sha 1c9e04ab] Unchanged since #0012, which …", "#0019"),
        ("[#0021 recall #0020 lines 1-2000 of 3400]\n", "#0021"),
        ("[#0024 a] b.md deleted]", "#0024"),
        ("[#10000]", "#10000"),
        ("[#ffffff]\nx", "#ffffff"),
        ("[#0000]\nthere is no number 0", ""),
        ("[#00001]\nnot how it is written", ""),
        ("[#001]\ntoo short", ""),
        ("[#000A]\nupper case", ""),
        ("[#g001]\nno hex", ""),
        ("[#0001", ""),
        ("[#0001 no end of the bracket\n]", ""),
        ("[#0001]text at once", ""),
        ("#0001\ntext", ""),
        ("", ""),
    ],
)
def test_the_id_at_the_head_of_a_text(text: str, result: str) -> None:
    assert head_id(text) == result
