"""What Schemathesis needs to get past the door: who calls, proofs of a step-up, and ids that exist.

FUZZ_GROUND names the file that scripts/fuzz-ground.ts wrote, FUZZ_AS is owner, viewer or operator.
Half of the ids of a path are of things that exist; the other half are what was generated.
"""
import json
import os
import random
import urllib.error
import urllib.request

import schemathesis

ground = json.load(open(os.environ["FUZZ_GROUND"], encoding="utf-8"))
token = ground["tokens"][os.environ["FUZZ_AS"]]
chance = random.Random(7)


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    known = {name: ground["ids"][name] for name in path_parameters or {} if name in ground["ids"]}
    if not known or chance.random() < 0.5:
        return path_parameters
    return {**path_parameters, **{name: chance.choice(ids) for name, ids in known.items()}}


def proof():
    request = urllib.request.Request(
        ground["url"] + "/api/v1/auth/step-up",
        data=json.dumps({"password": ground["password"]}).encode(),
        headers={"authorization": f"Bearer {token}", "content-type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)["step_up_token"]
    except urllib.error.HTTPError:
        return None


@schemathesis.hook
def before_call(context, case, kwargs):
    case.headers["Authorization"] = f"Bearer {token}"
    takes = {parameter["name"] for parameter in case.operation.definition.raw.get("parameters", [])}
    if "X-Service-Step-Up" in takes and os.environ["FUZZ_AS"] != "viewer":
        made = proof()
        if made is not None:
            case.headers["X-Service-Step-Up"] = made
