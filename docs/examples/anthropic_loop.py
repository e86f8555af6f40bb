# SPDX-License-Identifier: GPL-2.0-or-later
"""Anthropic's computer-use loop on a box's screen: anthropic_loop.py CALLS.json TASK

The model is a recording here, so that the example runs without a key. With the SDK, ask() is

    client.beta.messages.create(model=…, max_tokens=4096, betas=["computer-use-2025-01-24"], tools=tools,
                                messages=messages).model_dump()

The tool_use blocks go to POST /v1/act as they are, and nothing sleeps: the answer comes when the screen is
quiet, and with a picture only if it has changed. The conversation is printed as JSON.
"""
import json
import sys

from boxscreen import Screen


def image(picture):
    return {"type": "image", "source": {"type": "base64", "media_type": f"image/{picture['format']}",
                                        "data": picture["base64"]}}


def text(words):
    return {"type": "text", "text": words}


def contents(answer):
    """What the model is told of a call that was done."""
    [result] = answer["results"]
    if "picture" in result:  # screenshot, zoom
        return [image(result["picture"])]
    if "x" in result:  # cursor_position
        return [text(f"X={result['x']},Y={result['y']}")]
    if answer["shot"] == "unchanged":
        return [text("Done. The screen has not changed.")]
    return [text("Done."), image(answer["shot"])]


def run_tool(screen, block):
    fault, answer = screen.act(block)
    return {"type": "tool_result", "tool_use_id": block["id"], "is_error": fault is not None,
            "content": [text(fault)] if fault else contents(answer)}


def loop(screen, ask, task):
    tools = [{"type": "computer_20250124", "name": "computer", "display_width_px": screen.width,
              "display_height_px": screen.height}]
    messages = [{"role": "user", "content": task}]
    while True:
        response = ask(tools=tools, messages=messages)
        messages.append({"role": "assistant", "content": response["content"]})
        results = [run_tool(screen, block) for block in response["content"] if block["type"] == "tool_use"]
        if not results:
            return messages
        messages.append({"role": "user", "content": results})


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        recorded = iter(json.load(file))
    json.dump(loop(Screen(), lambda **request: next(recorded), sys.argv[2]), sys.stdout)


if __name__ == "__main__":
    main()
