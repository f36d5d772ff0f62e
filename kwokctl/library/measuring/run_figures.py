"""The figures of a run, under the names that assertions use. Generated from the catalogue of figures: `make docs`."""

from kwokctl.library.measuring.figure_places import FigurePlace, Named
from kwokctl.library.measuring.figure_values import (
    BoundsFigure,
    DistributionFigure,
    DistributionsByName,
    LevelsByName,
    LevelsFigure,
    NumberFigure,
    NumbersByName,
    SeriesFigure,
)


class PodsFigures(FigurePlace):
    """Figures whose names begin with `pods`."""

    created = Named(NumberFigure)
    """Pods that were created."""
    bound = Named(NumberFigure)
    """Pods that were bound to a node."""
    running = Named(NumberFigure)
    """Pods that have run."""
    ready = Named(NumberFigure)
    """Pods that were Ready."""
    ended = Named(NumberFigure)
    """Pods that ended, in success or failure."""
    deleted = Named(NumberFigure)
    """Pods that were deleted."""
    unschedulable = Named(NumberFigure)
    """Pods that the scheduler could not place at first, or at all."""
    unschedulable_attempts = Named(NumberFigure)
    """Attempts to place them that failed with a new reason."""
    in_gaps = Named(NumberFigure)
    """Pods of which a time is not known."""
    created_to_bound = Named(DistributionFigure)
    """From creation until bound to a node (s)."""
    bound_to_running = Named(DistributionFigure)
    """From bound until Running (s)."""
    created_to_running = Named(DistributionFigure)
    """From creation until Running (s)."""
    created_to_ready = Named(DistributionFigure)
    """From creation until Ready (s)."""
    running_to_ended = Named(DistributionFigure)
    """From Running to the end (s)."""
    submitted_to_bound = Named(DistributionFigure)
    """From the arrival until bound to a node (s)."""
    submitted_to_running = Named(DistributionFigure)
    """From the arrival until Running (s)."""
    waiting = Named(LevelsFigure)
    """Pods that waited for a node, over time."""


class RatesFigures(FigurePlace):
    """Figures whose names begin with `rates`."""

    created = Named(SeriesFigure)
    """Pods created a second (/s)."""
    bound = Named(SeriesFigure)
    """Pods bound a second (/s)."""
    running = Named(SeriesFigure)
    """Pods that began to run a second (/s)."""
    deleted = Named(SeriesFigure)
    """Pods deleted a second (/s)."""
    accepted = Named(SeriesFigure)
    """Arrivals accepted a second (/s)."""


class JobsFigures(FigurePlace):
    """Figures whose names begin with `jobs`."""

    created = Named(NumberFigure)
    """Jobs that were created."""
    done = Named(NumberFigure)
    """Jobs that were complete."""
    failed = Named(NumberFigure)
    """Jobs that failed."""
    dispatch = Named(DistributionFigure)
    """From the arrival until the Job's object appeared (s)."""
    scheduling_latency = Named(DistributionFigure)
    """From the object until all pods were bound (s)."""
    scheduling_growth = Named(NumberFigure)
    """Mean scheduling latency of the last ten minus that of the first ten (s)."""
    first_bound = Named(DistributionFigure)
    """From the object until the first pod was bound (s)."""
    start = Named(DistributionFigure)
    """From all pods bound until all had run (s)."""
    occupancy = Named(DistributionFigure)
    """From all pods Running until complete (s)."""
    jct = Named(DistributionFigure)
    """Completion time, from the object (s)."""
    jct_from_submission = Named(DistributionFigure)
    """Completion time, from the arrival (s)."""
    makespan = Named(NumberFigure)
    """From the first submission until the last was complete (s)."""


class GangsFigures(NumberFigure):
    """Gangs: pods that belong together."""

    done = Named(NumberFigure)
    """Gangs that were done."""
    dispatch = Named(DistributionFigure)
    """From the arrival until the gang was given to the scheduler (s)."""
    scheduling_latency = Named(DistributionFigure)
    """From then until all pods that the gang needs were bound (s)."""
    first_bound = Named(DistributionFigure)
    """From then until its first pod was bound (s)."""
    start = Named(DistributionFigure)
    """From all that it needs bound until they had run (s)."""
    occupancy = Named(DistributionFigure)
    """From all that it needs Running until done (s)."""
    jct = Named(DistributionFigure)
    """Completion time, from when it was given to the scheduler (s)."""
    jct_from_submission = Named(DistributionFigure)
    """Completion time, from the arrival (s)."""
    bound_in_part = Named(NumberFigure)
    """Gangs with some pods bound, and for more than a second no other."""
    time_in_part = Named(DistributionFigure)
    """Of those, from the first pod bound until all that it needs (s)."""
    most_waiting = Named(NumberFigure)
    """Most gangs that waited at once for their pods to be bound."""
    queue_free_inter_arrival = Named(NumberFigure)
    """Least time between gangs without a queue: occupancy x nodes of a gang / nodes (s)."""
    makespan = Named(NumberFigure)
    """From the first submission until the last gang was done (s)."""


class TrainingFigures(NumberFigure):
    """Trainings: gangs whose pods say how long a step is."""

    done = Named(NumberFigure)
    """Trainings whose last step was done."""
    stops = Named(NumberFigure)
    """Times that a rank stopped before the last step."""
    lost_steps = Named(NumberFigure)
    """Steps that were done and in no checkpoint when a rank stopped."""
    goodput = Named(NumberFigure)
    """Length of the steps that count, of the time from the Jobs' creation to their ends (%)."""
    ettr = Named(NumberFigure)
    """Time spent on the steps that count, at whatever speed, of the same time (%)."""
    lost_gpu_hours = Named(NumberFigure)
    """GPU-hours from the first start to the end in which no step was done that counts (GPU-h)."""
    mttf = Named(NumberFigure)
    """Mean time for which all ranks ran until one stopped (s)."""
    optimal_interval = Named(NumberFigure)
    """Time between checkpoints that would have lost least, by Young's formula (s)."""


class FleetRequestedFigures(LevelsByName):
    """Figures whose names begin with `fleet.requested`."""

    cpu = Named(LevelsFigure)
    """Share of the nodes' allocatable cpu that pods requested, over time (%)."""
    memory = Named(LevelsFigure)
    """Share of the nodes' allocatable memory that pods requested, over time (%)."""


class FleetFigures(FigurePlace):
    """Figures whose names begin with `fleet`."""

    nodes = Named(LevelsFigure)
    """Nodes, over time."""
    not_ready = Named(LevelsFigure)
    """Nodes that were not Ready, over time."""
    cordoned = Named(LevelsFigure)
    """Nodes that were cordoned, over time."""
    tainted = Named(LevelsFigure)
    """Nodes with other taints that keep pods away, over time."""
    requested = Named(FleetRequestedFigures)
    """Figures whose names begin with `fleet.requested`."""
    preemptions = Named(NumberFigure)
    """Pods that ended to make room for others."""
    evictions = Named(NumberFigure)
    """Pods that were evicted from their nodes."""
    failures = Named(NumberFigure)
    """Pods that ended for other reasons in their status."""
    restarts = Named(NumberFigure)
    """Restarts of containers, by how they had ended."""
    fragmentation = Named(LevelsByName)
    """Figures whose names begin with `fleet.fragmentation`."""
    largest_gang = Named(LevelsByName)
    """Figures whose names begin with `fleet.largest_gang`."""
    spread = Named(DistributionsByName)
    """Figures whose names begin with `fleet.spread`."""


class ArrivalsFigures(NumberFigure):
    """Arrivals of all loads."""

    late = Named(NumberFigure)
    """Arrivals that were sent more than 0.1 s after they were due."""
    lateness = Named(DistributionFigure)
    """From when an arrival was due until it was sent (s)."""
    answer = Named(DistributionFigure)
    """From when an arrival was sent until it was accepted (s)."""


class ApiFigures(FigurePlace):
    """Figures whose names begin with `api`."""

    availability = Named(NumberFigure)
    """Share of the probes that the API server answered (%)."""
    answer = Named(DistributionFigure)
    """From a probe to its answer (s)."""
    requests = Named(NumberFigure)
    """Requests that the API server has answered."""
    refusals = Named(NumberFigure)
    """Those that it has answered with an error, by code."""
    bindings = Named(NumberFigure)
    """Pods that were bound through the API, and attempts by code."""
    binding_rate = Named(NumberFigure)
    """Pods that were bound a second, on average (/s)."""
    mutating = Named(BoundsFigure)
    """Latency of writes of single objects, at most (objective: p99 of 1 s) (s)."""
    reads = Named(BoundsFigure)
    """Latency of reads of single objects, at most (objective: p99 of 1 s) (s)."""
    lists = Named(BoundsFigure)
    """Latency of lists, at most (objective: p99 of 30 s) (s)."""
    missed_objectives = Named(NumberFigure)
    """Kinds of requests whose p99 was above the objective."""
    ended_watches = Named(NumberFigure)
    """Watches that the API server has ended because their clients were too slow."""
    held_back = Named(NumberFigure)
    """Requests that flow control has refused."""


class EtcdFigures(FigurePlace):
    """Figures whose names begin with `etcd`."""

    size = Named(LevelsFigure)
    """Size of etcd's file (B)."""
    in_use = Named(LevelsFigure)
    """Size of what etcd's file holds (B)."""
    fsync = Named(BoundsFigure)
    """Time until etcd's log was on the disk, at most (s)."""
    commit = Named(BoundsFigure)
    """Time until etcd's file was written, at most (s)."""


class SchedulerFigures(FigurePlace):
    """Figures whose names begin with `scheduler`."""

    attempts = Named(NumberFigure)
    """Attempts to place a pod, by result."""
    pending = Named(LevelsFigure)
    """Pods in the scheduler's queues."""


class ComponentsFigures(FigurePlace):
    """Figures whose names begin with `components`."""

    cpu = Named(LevelsFigure)
    """Processors that the components took."""
    memory = Named(LevelsFigure)
    """Memory of the components (B)."""


class ClientsFigures(FigurePlace):
    """Figures whose names begin with `clients`."""

    requests = Named(NumberFigure)
    """Requests by client, of the recorder and of loads, too."""
    conflicts = Named(NumberFigure)
    """Requests that were refused because the object had changed, by client."""
    refusals = Named(NumberFigure)
    """Requests that were refused for another reason, by client."""


class IncidentsFigures(FigurePlace):
    """Figures whose names begin with `incidents`."""

    count = Named(NumberFigure)
    """Faults on nodes; those that follow from one belong to it."""
    open = Named(NumberFigure)
    """Faults after which the node is not back."""
    signal_delay = Named(DistributionFigure)
    """From a fault to the first signal of it on the node (s)."""
    to_detect = Named(DistributionFigure)
    """From the first signal to the first reaction of a client (s)."""
    to_act = Named(DistributionFigure)
    """From a fault to the first reaction of a client (s)."""
    to_cordon = Named(DistributionFigure)
    """From a fault until pods are kept away (s)."""
    to_drain = Named(DistributionFigure)
    """From then until no pod is left that a drain removes (s)."""
    to_accept = Named(DistributionFigure)
    """From a fault until a repair is accepted (s)."""
    to_repair = Named(DistributionFigure)
    """From then until the hardware is good (s)."""
    to_return = Named(DistributionFigure)
    """From a fault until the node is back as a whole (s)."""
    outside_repair = Named(DistributionFigure)
    """The part of that in which no repair was under way (s)."""
    absorbed = Named(NumberFigure)
    """From the first fault until all nodes are back (s)."""
    backlog = Named(LevelsFigure)
    """Nodes with a fault that are not back."""
    mttr = Named(NumberFigure)
    """Mean time from a fault until the node is back (s)."""
    mtbf = Named(NumberFigure)
    """Mean time between faults (s)."""
    availability = Named(NumberFigure)
    """MTBF / (MTBF + MTTR) (%)."""
    recall = Named(NumberFigure)
    """Faults, but for benign ones, that a client has reacted to (%)."""
    precision = Named(NumberFigure)
    """Reactions that such a fault explains (%)."""
    over_cordon = Named(NumberFigure)
    """Of the time in which nodes were cordoned, that without such a fault (%)."""
    lost_capacity = Named(NumberFigure)
    """Capacity that faults and reactions cost (%)."""
    bad_placements = Named(NumberFigure)
    """Pods bound to a node that shows a fatal fault."""
    repeat_offenders = Named(NumberFigure)
    """Of these, those whose workload was on that node before."""
    collateral = Named(NumberFigure)
    """Pods evicted that no fault had hurt."""
    flapping = Named(NumberFigure)
    """Nodes cordoned again for one fault."""
    unavailable = Named(LevelsFigure)
    """Nodes that were not Ready, cordoned or gone."""
    budget_exceeded = Named(NumberFigure)
    """Time with more such nodes than the budget allows (s)."""
    acts_beyond_budget = Named(NumberFigure)
    """Nodes cordoned in that time."""
    repair_yield = Named(NumberFigure)
    """Repairs that have ended the fault (%)."""
    escalations = Named(DistributionFigure)
    """Further repairs of a fault."""
    acts = Named(NumberFigure)
    """Acts on nodes, by who has done what."""
    refused_evictions = Named(NumberFigure)
    """Evictions that PodDisruptionBudgets have refused, by user."""
    past_budgets = Named(NumberFigure)
    """Pods of PodDisruptionBudgets deleted without an eviction, by user."""
    suppressed = Named(NumberFigure)
    """Faults of schedules that were not injected."""
    watch_lag = Named(DistributionFigure)
    """From the change of an object to its receipt by the recorder (s)."""


class GroupFigures(FigurePlace):
    """The figures of one group of pods."""

    pods = Named(PodsFigures)
    """Figures whose names begin with `pods`."""
    rates = Named(RatesFigures)
    """Figures whose names begin with `rates`."""
    jobs = Named(JobsFigures)
    """Figures whose names begin with `jobs`."""
    gangs = Named(GangsFigures)
    """Gangs: pods that belong together."""
    training = Named(TrainingFigures)
    """Trainings: gangs whose pods say how long a step is."""


class RunFigures(GroupFigures):
    """All figures of a run."""

    fleet = Named(FleetFigures)
    """Figures whose names begin with `fleet`."""
    arrivals = Named(ArrivalsFigures)
    """Arrivals of all loads."""
    refusals = Named(NumberFigure)
    """Arrivals that were refused."""
    api = Named(ApiFigures)
    """Figures whose names begin with `api`."""
    etcd = Named(EtcdFigures)
    """Figures whose names begin with `etcd`."""
    scheduler = Named(SchedulerFigures)
    """Figures whose names begin with `scheduler`."""
    components = Named(ComponentsFigures)
    """Figures whose names begin with `components`."""
    clients = Named(ClientsFigures)
    """Figures whose names begin with `clients`."""
    incidents = Named(IncidentsFigures)
    """Figures whose names begin with `incidents`."""
    latency = Named(DistributionsByName)
    """Latencies that were asked for, by their names."""
    metrics = Named(NumbersByName)
    """Metrics that were asked for, by their fields."""
