"""Those who write to the raced objects past the API server, from copies that may be old."""

from collections import defaultdict

from kwokctl.controller.leases.node_lease import LeaseClaim
from kwokctl.dataplane.leases.decode import StoredLease, read_lease
from kwokctl.dataplane.port import ObjectKey, Patch, Renewal, Renewed
from kwokctl.errors import ApiError, RequestError
from kwokctl.json_value import Json
from kwokctl.kube.client import PatchType
from kwokctl.kube.resource import PODS
from tests.support.racing.ground import REFUSALS, Ground, has_ended


class Kubelet:
    """Patches statuses and deletes."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground

    async def turn(self) -> None:
        """Write from a copy of an object that may be old, or of one that is gone."""
        ground, random = self._ground, self._ground.random
        copies = ground.copies[ground.name()]
        body = copies[-1] if random.random() < 0.7 else random.choice(copies)
        ends = "deletionTimestamp" in body["metadata"] and random.random() < 0.5
        write = self._delete if ends or random.random() < 0.02 else self._patch
        target = ObjectKey(ground.resource, ground.namespace, body["metadata"]["name"])
        try:
            await write(target, body)
        except RequestError as e:
            if e.status not in REFUSALS:
                raise
            ground.outcomes[e.reason] += 1
        else:
            ground.outcomes["ok"] += 1

    async def _delete(self, target: ObjectKey, body: Json) -> None:
        ground, uid = self._ground, body["metadata"]["uid"]
        ground.ledger.ending(uid)
        await ground.plane.delete(target, grace_seconds=0, uid=uid, current=body)
        is_raw = target.resource == PODS and "finalizers" not in body["metadata"]
        ground.ledger.ended(uid, at_once=is_raw)

    async def _patch(self, target: ObjectKey, body: Json) -> None:
        """Patch a status, now and then without telling from which copy: then through the API."""
        ground = self._ground
        where, text, patch = self._status(body)
        current = body if ground.random.random() < 0.95 else None
        answer = await ground.plane.patch(target, patch, current=current)
        if current is not None or not has_ended(answer):
            ground.ledger.wrote(answer, where, text)
            ground.copies[target.name].append(answer)

    def _status(self, body: Json) -> tuple[str, str, Patch]:
        """Return a patch of a status, and what it makes the object say where."""
        text, uid = self._ground.text(), body["metadata"]["uid"]
        if self._ground.random.random() < 0.5:
            ours = {"type": "Ready", "status": "True", "reason": text}
            document: Json = {"metadata": {"uid": uid}, "status": {"conditions": [ours]}}
            patch = Patch(document=document, type=PatchType.STRATEGIC, subresource="status")
            return ".status.conditions[Ready].reason", text, patch
        if self._ground.resource != PODS:
            document = {"metadata": {"uid": uid}, "status": {"nodeInfo": {"bootID": text}}}
            patch = Patch(document=document, type=PatchType.MERGE, subresource="status")
            return ".status.nodeInfo.bootID", text, patch
        document = [
            {"op": "test", "path": "/metadata/uid", "value": uid},
            {"op": "add", "path": "/status/message", "value": text},
        ]
        patch = Patch(document=document, type=PatchType.JSON, subresource="status")
        return ".status.message", text, patch


class _RacedClaim(LeaseClaim):
    """A claim whose lease says which renewal was the last."""

    @property
    def uid_of_lease(self) -> str:
        return str(self._kept["uid"])

    def annotate(self, name: str, text: str) -> None:
        annotations = self._kept.get("annotations", {})
        self._keep(self._kept | {"annotations": annotations | {name: text}})


class LeaseHolder:
    """Renews leases, many at a time; what it renews says so in an annotation."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._claims: defaultdict[str, _RacedClaim] = defaultdict(
            lambda: _RacedClaim("", "of-a-node")
        )

    async def turn(self) -> None:
        """Renew some leases as they are known, and make those that are gone."""
        ground = self._ground
        names = ground.random.sample(list(ground.bodies), len(ground.bodies) // 2)
        texts = {name: ground.text() for name in names}
        renewals = [self._renewal(name, text) for name, text in texts.items()]
        answers = await ground.plane.renew(renewals)
        for renewal, answer in zip(renewals, answers, strict=True):
            if answer.error is None:
                self._renewed(renewal, answer, texts[renewal.node])
            else:
                assert answer.error.status in REFUSALS, answer.error
                ground.outcomes[answer.error.reason] += 1
                await self._look(renewal.node, answer.found)

    def _renewal(self, name: str, text: str) -> Renewal:
        claim = self._claims[name]
        claim.node = name
        claim.annotate("renewed", text)
        return Renewal(name, claim.version, claim.lease(holder="racer", duration=40, now=1.8e9))

    def _renewed(self, renewal: Renewal, answer: Renewed, text: str) -> None:
        claim = self._claims[renewal.node]
        if answer.found is not None:
            claim.recognise(answer.found)
        claim.version = answer.version
        written = {"metadata": {"uid": claim.uid_of_lease, "resourceVersion": answer.version}}
        self._ground.ledger.wrote(written, ".metadata.annotations.renewed", text)
        self._ground.outcomes["ok"] += 1

    async def _look(self, name: str, found: StoredLease | None) -> None:
        """Go on with a lease as it is now."""
        ground, claim = self._ground, self._claims[name]
        try:
            if found is None:
                raw = await ground.client.get_raw(ground.resource, ground.namespace, name)
                found = read_lease(raw)
        except ApiError as e:
            if e.status != 404:
                raise
            claim.forget_lease()
        else:
            claim.adopt(found, mine=True, now=1.8e9)
