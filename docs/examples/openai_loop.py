# SPDX-License-Identifier: GPL-2.0-or-later
"""OpenAI's computer-use loop on a box's screen: openai_loop.py CALLS.json TASK

The model is a recording here, so that the example runs without a key. With the SDK, ask() is

    client.responses.create(model="computer-use-preview", truncation="auto", tools=tools, input=items,
                            previous_response_id=previous).model_dump()

The computer_call items go to POST /v1/act as they are, with one action or several, and nothing sleeps: the
answer comes when the screen is quiet. What went to the model is printed as JSON.
"""
import json
import sys

from boxscreen import Screen


def screenshot(picture):
    return {"type": "computer_screenshot", "image_url": f"data:image/{picture['format']};base64,{picture['base64']}"}


def may_go_on(check):
    """Whether a safety check is acknowledged: ask a person here."""
    print(f"safety check: {check['message']}", file=sys.stderr)
    return True


def run_call(screen, call):
    """The items that answer a computer_call."""
    checks = call.get("pending_safety_checks", [])
    if not all(may_go_on(check) for check in checks):
        raise SystemExit("stopped at a safety check")
    fault, answer = screen.act(call, cursor=True)  # with the pointer a picture always comes
    notes = []
    if fault:
        notes = [{"role": "user", "content": [{"type": "input_text", "text": f"That was not done: {fault}"}]}]
        fault, answer = screen.act({"type": "screenshot"}, cursor=True)
        if fault:
            raise SystemExit(fault)
    return [{"type": "computer_call_output", "call_id": call["call_id"], "acknowledged_safety_checks": checks,
             "output": screenshot(answer["shot"])}, *notes]


def loop(screen, ask, task):
    tools = [{"type": "computer_use_preview", "environment": "ubuntu", "display_width": screen.width,
              "display_height": screen.height}]
    items, previous, sent = [{"role": "user", "content": task}], None, []
    while True:
        response = ask(tools=tools, input=items, previous_response_id=previous)
        sent.append(items)
        calls = [item for item in response["output"] if item["type"] == "computer_call"]
        if not calls:
            return sent
        items = [item for call in calls for item in run_call(screen, call)]
        previous = response["id"]


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        recorded = iter(json.load(file))
    json.dump(loop(Screen(), lambda **request: next(recorded), sys.argv[2]), sys.stdout)


if __name__ == "__main__":
    main()
