"""Which integers are refused before anything is signed or sent, and what a refusal of the server says."""

import writ
from writ.adapters.openai import Toolbox

REFUSED = [2**53 + 1, -(2**53) - 1, 123456789012345680000, 10**400]
HELD = [2**53 - 1, 2**53, 2**70, -(2**53), True, 1e21, 0.1]

for number in REFUSED:
    try:
        writ.Effect("js", {"list": [0, {"id": number}]}).stated()
    except writ.NotBelieved as e:
        told = str(e)
        assert "GWY-062" in told and "effect.params.list[1].id" in told and "string" in told, told
    else:
        raise AssertionError(number)
for number in HELD:
    writ.Effect("js", {"list": [0, number]}).stated()
assert writ.canonicalize(2**53 + 1) == b"9007199254740992", "what is read may have any number"
refused = writ.Refused(404, {"code": "GWY-011", "title": "nothing answers to that path", "detail": ""})
assert str(refused) == "GWY-011 nothing answers to that path", refused
refused = writ.Refused(409, {"code": "EXE-901", "title": "the run is closed", "detail": "acme/main"})
assert str(refused) == "EXE-901 the run is closed: acme/main", refused


class Offering:
    """One operation, of which no call may be sent."""

    def operations(self, run):
        least = writ.Resources(1, 1, 1, 1)
        return [writ.Operation("js", "1.0.0", "eval", True, "", {}, None, "wasm", least)]


toolbox = Toolbox(Offering())
for written, wanted in [
    ("{", "no JSON"),
    ("[1]", "no object"),
    ('{"id": 123456789012345680000}', "send it as a string"),
    ('{"x": NaN}', "JSON has no nan"),
    ('{"x": "\\ud800"}', "surrogate"),
]:
    said = toolbox.answer({"id": "1", "function": {"name": "js", "arguments": written}})["content"]
    assert said.startswith("The arguments ") and wanted in said, said
print(f"{len(REFUSED)} refused")
