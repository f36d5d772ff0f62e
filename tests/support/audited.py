"""An event as the API server writes it into its audit log."""

import json


def event(agent: str, code: int, *, verb: str = "create", stage: str = "ResponseComplete") -> str:
    body = {"kind": "Event", "stage": stage, "verb": verb, "userAgent": agent}
    return json.dumps(body | ({"responseStatus": {"code": code}} if code else {})) + "\n"
