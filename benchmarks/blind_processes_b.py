"""The second blind set: 60 further processes as users have them, by the rules and in the words of `blind_processes`.

Written on 2026-11-18 from the documented definitions alone, without a look at how statements are made, after the first
set had been scored and before any of its misses was mended. Other functions, columns, shares of missing values, learners
and seeds. Nothing of the set was explained before the truths were committed: only that data can be drawn, and that no
stated truth contradicts brute force, was tried. Scoring is in `blind`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.blind_processes import (
    FLAT,
    Blind,
    Truth,
    also,
    evenly_of,
    exactly,
    filled,
    gone,
    lacking,
    log10,
    number,
    powers,
    process,
    shuffled,
    spread_out,
    true,
    zero_mean,
)
from benchmarks.fresh import Rng, columns, facts, flags, normal, one_of, repeated, sigmoid, whole

WRITTEN = "2026-11-18"
SEED = 517_300


def gamma(shape: float, least: float = 0.0) -> Callable[[Rng, int], Any]:
    return lambda rng, rows: least + rng.gamma(shape, 1.0, rows)


def student(freedom: float) -> Callable[[Rng, int], Any]:
    return lambda rng, rows: rng.standard_t(freedom, rows)


def pareto(power: float) -> Callable[[Rng, int], Any]:
    return lambda rng, rows: 1 + rng.pareto(power, rows)


def mostly_zero(share: float, mean: float) -> Callable[[Rng, int], Any]:
    """Counts of which this share is 0."""
    return lambda rng, rows: np.where(rng.random(rows) < share, 0, 1 + rng.poisson(mean, rows))


# fmt: off


def blind_set_b() -> list[Blind]:
    """All processes, by what they are about."""
    return [
        *_missing(), *_rare(), *_outputs(), *_one_hot(), *_tails(), *_ties(), *_log_scales(), *_panels(),
    ]


# --- missing values --------------------------------------------------------------------------------


def _missing() -> list[Blind]:
    survey = columns(220, trust_=normal(), brisk_=normal(), taste=normal(), hue=normal())
    letters = lacking(columns(210, phone_=normal(), mail_=normal(), visit=normal()), 0.3, "phone_")
    return [
        process(
            "a survey of which every question is skipped by some", "missing",
            lambda trust_, brisk_: 1.6 * filled(trust_) - filled(brisk_),
            lacking(lacking(lacking(survey, 0.15, "trust_"), 0.2, "brisk_"), 0.25, "taste"),
            facts(trust_=true("line+", few=False), brisk_=true("line-", few=False), taste__hue=FLAT),
            ranks="trust_ > brisk_ > taste", learner="histogram",
        ),
        process(
            "left blank means nothing paid", "missing",
            lambda tuition, grant: 0.5 * filled(tuition) + 0.6 * grant,
            lacking(columns(230, tuition=gamma(2, 2), grant=normal(), desk=normal()), 0.3, "tuition"),
            facts(tuition=true("line+", missing="lower"), grant=true("line+"), desk=FLAT),
            ranks="tuition > grant > desk", learner="lightgbm",
        ),
        process(
            "the strongest column is mostly missing", "missing",
            lambda ebit_, margin: 2 * filled(ebit_) - 0.8 * margin,
            lacking(columns(260, ebit_=normal(), margin=normal(), branch=flags()), 0.55, "ebit_"),
            facts(ebit_=true("line+"), margin=true("line-"), branch=FLAT),
            ranks="ebit_ > margin > branch", learner="lightgbm", noise=0.2,
        ),
        process(
            "one blank lowers, another raises", "missing",
            lambda smear, scan, stage: 2.5 * gone(scan) - 2 * gone(smear) + 0.8 * stage,
            lacking(lacking(columns(280, smear=normal(), scan=(0, 10), stage=normal()), 0.25, "smear"), 0.3, "scan"),
            facts(smear=true("flat", missing="lower"), scan=true("flat", missing="higher"), stage=true("line+")),
            learner="histogram", noise=0.2,
        ),
        process(
            "depots that are not noted stand in the middle", "missing",
            lambda depot, stock: number(depot, 1.0, lyon=0, oslo=1, riga=2) + 0.6 * stock,
            lacking(columns(200, depot=evenly_of("lyon oslo riga"), stock=normal(), lamp=normal()), 0.15, "depot"),
            facts(depot=true("levels", missing=None, high="riga", low="lyon"), stock=true("line+"), lamp=FLAT),
            ranks="depot > stock > lamp",
        ),
        process(
            "a sensor fails in the cold", "missing",
            lambda warmth, shake: warmth + np.where(np.isnan(shake), -1.5, 0.7 * filled(shake)),
            lacking(columns(280, warmth=normal(), shake=normal(), bolt=normal()), 0.3, "shake", lambda X: -X["warmth"]),
            facts(warmth=true("line+", thin=None), shake=true("line+", missing="lower", thin=None), bolt=FLAT),
            learner="lightgbm", noise=0.2,
        ),
        process(
            "a root, and blanks at its upper end", "missing small",
            lambda tenure: np.where(np.isnan(tenure), 3.2, np.sqrt(filled(tenure))),
            lacking(columns(120, tenure=(0, 9), shoe=normal()), 0.2, "tenure"),
            facts(tenure=true("up", missing="higher"), shoe=FLAT),
            ranks="tenure > shoe",
        ),
        process(
            "either by phone or by letter", "missing",
            lambda phone_, mail_, visit: filled(phone_) + 1.4 * filled(mail_) + 0.5 * visit,
            lacking(letters, 0.35, "mail_", lambda X: 3.0 * X["phone_"].notna()),
            facts(phone_=true("line+", thin=None), mail_=true("line+", thin=None), visit=true("line+")),
            learner="histogram", noise=0.2,
        ),
        process(
            "a few blanks in each of four columns", "missing small",
            lambda cable, fuse, wire, plug: 1.5 * filled(cable) - filled(fuse),
            lacking(lacking(lacking(lacking(
                columns(90, cable=normal(), fuse=normal(), wire=normal(), plug=normal()),
                0.05, "cable"), 0.05, "fuse"), 0.05, "wire"), 0.05, "plug"),
            facts(cable=true("line+", missing=None), fuse=true("line-", missing=None), wire__plug=FLAT),
        ),
        process(
            "members, others, and those who do not say", "missing",
            lambda member, basket: np.where(np.isnan(member), 3.5, 2 * filled(member)) + 0.5 * basket,
            lacking(columns(150, member=exactly(75), basket=normal(), till=normal()), 0.2, "member"),
            facts(member=true("two+", missing="higher"), basket=true("line+"), till=FLAT),
            ranks="member > basket > till", learner="histogram", noise=0.2,
        ),
        process(
            "wages not told by the senior, and of no effect", "missing",
            lambda rank: 1.3 * rank,
            lacking(columns(300, rank=normal(), wage=normal(), storey=whole(1, 9)), 0.3, "wage", lambda X: X["rank"]),
            facts(rank=true("line+", thin=None), wage=true("flat", thin=None), storey=FLAT),
            ranks="rank > wage", learner="lightgbm",
        ),
        process(
            "a hump, and none where it is not measured", "missing small",
            lambda ph: np.where(np.isnan(ph), -4.0, 3 - 2 * (filled(ph) - 1) ** 2),
            lacking(columns(70, ph=(-0.5, 2.5), vial=normal()), 0.2, "ph"),
            facts(ph=true("cap", missing="lower", place=(0.5, 1.5)), vial=FLAT),
            ranks="ph > vial",
        ),
        process(
            "without a badge everything is steeper", "missing",
            lambda badge, tempo: tempo * (1 + 3 * gone(badge)),
            zero_mean(lacking(columns(300, badge=normal(), tempo=normal(), pen=normal()), 0.25, "badge"), "tempo"),
            facts(badge=true("flat", "tempo", missing=None, hidden=True, split="tempo"),
                  tempo=true("line+", "badge", split="badge"), pen=FLAT),
            pair="badge tempo", learner="lightgbm", noise=0.15,
        ),
        process(
            "a chance that a missing biopsy raises", "missing",
            lambda biopsy, tumour: 0.2 + 0.4 * gone(biopsy) + 0.08 * np.clip(tumour, -2, 2),
            lacking(columns(300, biopsy=(20, 90), tumour=normal(), nurse=normal()), 0.35, "biopsy"),
            facts(biopsy=true("flat", missing="higher"), tumour=true("up"), nurse=FLAT),
            ranks="biopsy > tumour > nurse", learner="histogram classifier", holds=None,
        ),
    ]


# --- rare events -----------------------------------------------------------------------------------


def _rare() -> list[Blind]:
    return [
        process(
            "a risk that jumps above a limit", "rare",
            lambda troponin: np.where(np.asarray(troponin) > 1.0, 0.3, 0.01),
            columns(300, troponin=normal(), lobby=normal(), bed=flags()),
            facts(troponin=true("step+", place=(0.7, 1.3)), lobby__bed=FLAT),
            ranks="troponin > lobby", unit=None,
        ),
        process(
            "a vaccine, and few cases", "rare",
            lambda vaccine: 0.1 - 0.085 * np.asarray(vaccine, float),
            columns(300, vaccine=exactly(150), street=normal(), pet=flags()),
            facts(vaccine=true("two-"), street__pet=FLAT),
            ranks="vaccine > street", unit=None, learner="logistic", holds=None,
        ),
        process(
            "each fall doubles the risk", "rare",
            lambda falls: 0.005 * 2.0 ** np.asarray(falls),
            columns(280, falls=whole(0, 5), carpet=normal(), door=normal()),
            facts(falls=true("up|step+"), carpet__door=FLAT),
            ranks="falls > carpet", unit=None,
        ),
        process(
            "too light and too heavy", "rare",
            lambda bmi: 0.01 + 0.03 * np.asarray(bmi) ** 2,
            columns(260, bmi=(-1.5, 1.5), hat=normal()),
            facts(bmi=true("U", place=(-0.4, 0.4)), hat=FLAT),
            ranks="bmi > hat", unit=None,
        ),
        process(
            "viral load against immunity", "rare",
            lambda viral, immune: sigmoid(-3 + 2 * np.asarray(viral) - 1.2 * np.asarray(immune)),
            columns(300, viral=normal(), immune=normal(), scarf=normal()),
            facts(viral=true("up", "immune", split=None), immune=true("down", "viral", split=None), scarf=FLAT),
            ranks="viral > immune > scarf", pair="viral immune", unit=None, learner="logistic",
        ),
        process(
            "one wing of five", "rare ties",
            lambda wing: number(wing, w1=0.02, w2=0.02, w3=0.02, w4=0.02, w5=0.2),
            columns(250, wing=evenly_of("w1 w2 w3 w4 w5"), window=normal(), lift=flags()),
            facts(wing=true("levels", high="w5", low="w1 w2 w3 w4"), window__lift=FLAT),
            ranks="wing > window", unit=None, learner="logistic", holds=None,
        ),
        process(
            "coins, however they are thrown", "rare constant",
            lambda wrist: np.full(len(wrist), 0.4),
            columns(240, wrist=normal(), table=(0, 1), coin=one_of("old new")),
            facts(wrist__table__coin=FLAT),
            opening="constant", unit=None, learner="histogram classifier", holds=False,
        ),
    ]


# --- several outputs -------------------------------------------------------------------------------


def _outputs() -> list[Blind]:
    ballots = lacking(columns(240, ballot=normal(), urban=normal()), 0.3, "ballot")
    return [
        process(
            "yield and cost pull apart", "outputs small",
            lambda lime, nitro, water: (1.5 * lime + nitro, -1.5 * lime + 0.8 * water),
            columns(80, lime=normal(), nitro=normal(), water=normal()),
            {"0": facts(lime=true("line+"), nitro=true("line+"), water=FLAT),
             "1": facts(lime=true("line-"), nitro=FLAT, water=true("line+"))},
            speaks={"nitro": "0", "water": "1"}, learner="forest", noise=0.1,
        ),
        process(
            "four outputs and a common driver", "outputs",
            lambda power, grid, hum: (power, -power, 2 * power + 1.5 * grid, np.abs(hum)),
            columns(140, power=normal(), grid=normal(), hum=(-3, 3)),
            {"0": facts(power=true("line+"), grid__hum=FLAT),
             "1": facts(power=true("line-"), grid__hum=FLAT),
             "2": facts(power=true("line+"), grid=true("line+"), hum=FLAT),
             "3": facts(power__grid=FLAT, hum=true("U", place=(-0.7, 0.7)))},
            speaks={"grid": "2", "hum": "3"}, learner="linear", noise=0.2,
        ),
        process(
            "three grades of ripeness", "outputs",
            lambda sugar: (-2.2 * sugar, 1.0 + 0 * sugar, 2.2 * sugar),
            columns(280, sugar=(-2, 2), crate=normal()),
            {"hard": facts(sugar=true("down|step-"), crate=FLAT),
             "ripe": facts(sugar=true("cap", place=(-0.45, 0.45)), crate=FLAT),
             "soft": facts(sugar=true("up|step+"), crate=FLAT)},
            classes="hard ripe soft", learner="forest classifier",
        ),
        process(
            "a step in one output, a line in the other", "outputs",
            lambda torque, oil: (3.0 * (np.asarray(torque) > 0.3) + 0.6 * oil, torque - oil),
            columns(160, torque=(-2, 2), oil=normal(), paint=normal()),
            {"0": facts(torque=true("step+", place=(0.1, 0.5)), oil=true("line+"), paint=FLAT),
             "1": facts(torque=true("line+"), oil=true("line-"), paint=FLAT)},
            learner="forest", noise=0.1,
        ),
        process(
            "best in one output, worst in the other", "outputs",
            lambda medal, mass: (number(medal, gold=2, iron=1, tin=0) + 0.5 * mass,
                                 -number(medal, gold=2, iron=1, tin=0) + 0.5 * mass),
            columns(180, medal=evenly_of("gold iron tin"), mass=normal(), rope=normal()),
            {"0": facts(medal=true("levels", high="gold", low="tin"), mass=true("line+"), rope=FLAT),
             "1": facts(medal=true("levels", high="tin", low="gold"), mass=true("line+"), rope=FLAT)},
            learner="linear", noise=0.2,
        ),
        process(
            "tons and thousandths", "outputs small",
            lambda cargo, knots: (1000 * cargo, 0.001 * knots - 0.0004 * cargo),
            columns(100, cargo=normal(), knots=normal(), flag=flags()),
            {"0": facts(cargo=true("line+"), knots__flag=FLAT),
             "1": facts(cargo=true("line-"), knots=true("line+"), flag=FLAT)},
            speaks={"cargo": "0", "knots": "1"},
        ),
        process(
            "void where the ballot is blank", "outputs missing",
            lambda ballot, urban: (2.5 * gone(ballot), 0.9 * urban, -0.9 * urban),
            ballots,
            {"void": facts(ballot=true("flat", None, missing="higher", hidden=None, split=None),
                           urban=true(None, None, hidden=None, split=None)),
             "left": facts(ballot=true("flat", None, missing="lower", hidden=None, split=None),
                           urban=true("up", None, hidden=None, split=None)),
             "right": facts(ballot=true("flat", None, missing="lower", hidden=None, split=None),
                            urban=true("down", None, hidden=None, split=None))},
            classes="void left right", learner="histogram classifier",
        ),
        process(
            "only the second output has an interaction", "outputs",
            lambda cod, eel, kelp: (cod - eel, cod * eel + 0.6 * kelp),
            zero_mean(zero_mean(columns(260, cod=normal(), eel=normal(), kelp=normal()), "cod"), "eel"),
            {"0": facts(cod=true("line+"), eel=true("line-"), kelp=FLAT),
             "1": facts(cod=true("flat", "eel", hidden=True, split="eel"), eel=true("flat", "cod", hidden=True, split="cod"),
                        kelp=true("line+"))},
            speaks={"kelp": "1"}, learner="network", noise=0.1,
        ),
        process(
            "fifty-five rows, a sum and a difference", "outputs small",
            lambda nut, screw: (nut + 0.5 * screw, 0.5 * screw - nut),
            columns(55, nut=normal(), screw=normal(), shelf=normal()),
            {"0": facts(nut=true("line+"), screw=true("line+"), shelf=FLAT),
             "1": facts(nut=true("line-"), screw=true("line+"), shelf=FLAT)},
        ),
    ]


# --- one-hot groups --------------------------------------------------------------------------------


def _one_hot() -> list[Blind]:
    return [
        process(
            "a cut of four kinds as columns", "one-hot",
            lambda cut_fair, cut_good, carat: 2.5 * carat - 2.0 * cut_fair - 1.0 * cut_good,
            spread_out(columns(240, cut=evenly_of("fair good fine best"), carat=normal(), case=normal()), "cut"),
            facts(cut_fair__cut_good=true("two-", thin=None), cut_fine__cut_best=true("flat", thin=None),
                  carat=true("line+"), case=FLAT),
            ranks="carat > cut_fair > cut_good > case", one_hot="cut_fair cut_good cut_fine cut_best", learner="histogram",
        ),
        process(
            "one level is rare", "one-hot",
            lambda bus_late, miles: 3.0 * bus_late + miles,
            spread_out(columns(300, bus=one_of("early prompt late", (0.45, 0.45, 0.1)), miles=normal(), seat=normal()), "bus"),
            facts(bus_late=true("two+", thin=None), bus_early__bus_prompt=true("flat", thin=None), miles=true("line+"),
                  seat=FLAT),
            one_hot="bus_early bus_prompt bus_late", learner="lightgbm", noise=0.2,
        ),
        process(
            "four switches that are no group", "one-hot small",
            lambda fan, pump, heater, radio: 2.5 * fan + 1.5 * pump - 0.9 * heater,
            columns(80, fan=exactly(40), pump=exactly(40), heater=exactly(40), radio=exactly(40)),
            facts(fan__pump=true("two+"), heater=true("two-"), radio=FLAT),
            ranks="fan > pump > heater > radio", learner="linear",
        ),
        process(
            "women and men in a column each", "one-hot small",
            lambda sex_f, shift: 2.0 * sex_f + 0.6 * shift,
            spread_out(columns(110, sex=evenly_of("f m"), shift=normal(), locker=normal()), "sex"),
            facts(sex_f=true("two+", thin=None), sex_m=true("flat", thin=None), shift=true("line+"), locker=FLAT),
            ranks="sex_f > shift > locker", one_hot="sex_f sex_m",
        ),
        process(
            "only one sort likes the sun", "one-hot",
            lambda sort_fern, sun: np.asarray(sun) * (1 - 2.2 * np.asarray(sort_fern, float)),
            zero_mean(spread_out(columns(300, sort=one_of("fern rose moss", (0.3, 0.3, 0.4)), sun=normal(), pot=normal()),
                                 "sort"), "sun"),
            facts(sort_fern=true("flat", "sun", hidden=True, thin=None, split="sun"),
                  sort_rose__sort_moss=true("flat", thin=None), sun=true("line+", "sort_fern", split="sort_fern"), pot=FLAT),
            pair="sort_fern sun", one_hot="sort_fern sort_rose sort_moss", learner="forest", noise=0.15,
        ),
        process(
            "six lines of truth values, and holes", "one-hot missing",
            lambda line_a, line_f, pace: 2.0 * np.asarray(line_a, float) - 2.0 * np.asarray(line_f, float) - 2.5 * gone(pace),
            lacking(spread_out(columns(240, line=evenly_of("a b c d e f"), pace=normal(), foreman=normal()), "line", bool),
                    0.25, "pace"),
            facts(line_a=true("levels", high="True", low="False", thin=None),
                  line_f=true("levels", high="False", low="True", thin=None),
                  line_b__line_c__line_d__line_e=true("flat", thin=None), pace=true("flat", missing="lower"), foreman=FLAT),
            one_hot="line_a line_b line_c line_d line_e line_f",
        ),
        process(
            "two groups and a number", "one-hot",
            lambda roof_tile, wall_wood, area: 1.2 * roof_tile - 2.2 * wall_wood + 2 * area,
            spread_out(spread_out(columns(270, roof=evenly_of("tile slate thatch"), wall=evenly_of("wood brick clay"),
                                          area=normal()), "roof"), "wall"),
            facts(roof_tile=true("two+", thin=None), wall_wood=true("two-", thin=None), area=true("line+"),
                  roof_slate__roof_thatch__wall_brick__wall_clay=true("flat", thin=None)),
            ranks="area > wall_wood > roof_tile > roof_slate",
            one_hot="roof_tile roof_slate roof_thatch;wall_wood wall_brick wall_clay", learner="lightgbm",
        ),
    ]


# --- heavy tails -----------------------------------------------------------------------------------


def _tails() -> list[Blind]:
    return [
        process(
            "far values that level off", "tails",
            lambda shock, calm: 2 * np.tanh(shock) + 0.7 * calm,
            columns(280, shock=student(2), calm=normal(), dust=normal()),
            facts(shock=true("up|step+"), calm=true("line+"), dust=FLAT),
            ranks="shock > calm > dust", learner="histogram", noise=0.2,
        ),
        process(
            "a price that grows exponentially", "tails",
            lambda buzz, rust: np.exp(0.8 * np.asarray(buzz)) - 0.5 * rust,
            columns(250, buzz=normal(), rust=normal(), knob=normal()),
            facts(buzz=true("up"), rust=true("line-"), knob=FLAT),
            ranks="buzz > rust > knob", unit=None,
        ),
        process(
            "three rows of a wrong kind", "tails",
            lambda void, flow, press: np.where(np.asarray(void) == 1, -5000.0, 2 * flow - press),
            columns(290, void=exactly(3), flow=normal(), press=normal(), hiss=normal()),
            facts(flow=true("line+"), press=true("line-"), hiss=FLAT,
                  void=true(None, None, hidden=None, thin=None, split=None)),
            ranks="void > flow > press > hiss", unit=None,
        ),
        process(
            "most never claim", "tails",
            lambda claims, term: 1.5 * (np.asarray(claims) > 0) + 0.3 * term,
            columns(270, claims=mostly_zero(0.65, 2), term=normal(), clerk=normal()),
            facts(claims=true("step+|up"), term=true("line+"), clerk=FLAT),
            ranks="claims > term > clerk", learner="lightgbm", noise=0.2,
        ),
        process(
            "eight bursts carry it", "tails",
            lambda burst, amp, hertz: 0.6 * hertz + 13 * burst * amp,
            columns(280, burst=exactly(8), amp=normal(), hertz=normal(), lid=normal()),
            facts(amp=true(None, "burst", hidden=None, split=None, few=True), burst=true(None, "amp", hidden=None, split=None),
                  hertz=true("line+"), lid=FLAT),
            pair="burst amp", unit=None,
        ),
        process(
            "wealth over many orders, by its logarithm", "tails log small",
            lambda wealth, heirs: np.log(wealth) - 0.5 * heirs,
            columns(100, wealth=pareto(0.7), heirs=normal(), pew=normal()),
            facts(wealth=true("up"), heirs=true("line-"), pew=FLAT),
            ranks="wealth > heirs > pew", learner="histogram", noise=0.2,
        ),
        process(
            "nothing in it, whatever is fitted", "constant small",
            lambda ink: np.full(len(ink), 7.0),
            columns(120, ink=normal(), nib=gamma(2), page=one_of("odd even")),
            facts(ink__nib__page=FLAT),
            opening="constant", unit=None, learner="forest", holds=False,
        ),
    ]


# --- ties ------------------------------------------------------------------------------------------


def _ties() -> list[Blind]:
    return [
        process(
            "four curves of the same strength", "ties",
            lambda oak, elm, ash, fir: np.tanh(oak) + np.tanh(elm) + np.tanh(ash) - np.tanh(fir),
            also(columns(130, oak=normal(), bark=normal()), elm=shuffled("oak"), ash=shuffled("oak"), fir=shuffled("oak")),
            facts(oak__elm__ash=true("up"), fir=true("down"), bark=FLAT),
            ranks="oak = elm = ash = fir > bark",
        ),
        process(
            "two tie, a third follows", "ties small",
            lambda silk, wool, felt: 2 * silk + 2 * wool + felt,
            also(columns(60, silk=normal(), hook=normal()), wool=shuffled("silk"), felt=shuffled("silk")),
            facts(silk__wool__felt=true("line+"), hook=FLAT),
            ranks="silk = wool > felt > hook", learner="linear",
        ),
        process(
            "two ports of eight share the top", "ties",
            lambda port, swell: number(port, a=0, b=1, c=2, d=3, e=4, f=5, g=6, h=6) + swell,
            columns(240, port=evenly_of("a b c d e f g h"), swell=normal(), gull=normal()),
            facts(port=true("levels", high="g h", low="a"), swell=true("line+"), gull=FLAT),
            ranks="port > swell > gull", learner="lightgbm", noise=0.15,
        ),
        process(
            "all but one brand alike", "ties small",
            lambda brand, cost: number(brand, ax=0, by=0, cz=0, dw=-2.5) - 0.6 * cost,
            columns(84, brand=evenly_of("ax by cz dw"), cost=normal()),
            facts(brand=true("levels", high="ax by cz", low="dw"), cost=true("line-")),
            ranks="brand > cost",
        ),
        process(
            "answers from one to five", "ties small",
            lambda mood, sleep: mood - 0.5 * sleep,
            columns(120, mood=whole(1, 5), sleep=whole(1, 5), sock=whole(1, 5)),
            facts(mood=true("line+"), sleep=true("line-"), sock=FLAT),
            ranks="mood > sleep > sock", learner="linear",
        ),
        process(
            "three hundred and twenty answers of the same small effect", "ties",
            lambda **item: sum(item.values()),
            columns(160, **{f"q{i:03d}": exactly(80) for i in range(320)}),
            {f"q{i:03d}": Truth(hidden=False, partners=frozenset(), allowed=frozenset(), missing="") for i in range(0, 320, 40)},
            opening="shared",
        ),
    ]


# --- log scales ------------------------------------------------------------------------------------


def _log_scales() -> list[Blind]:
    return [
        process(
            "best between a hundred and a thousand", "log",
            lambda copies, brine: 3 * np.exp(-((log10(copies) - 2.5) ** 2) / 0.8) - 0.5 * brine,
            columns(290, copies=powers(0, 5), brine=normal(), mug=normal()),
            facts(copies=true("cap", place=(90, 1100), few=False), brine=true("line-", few=False), mug=FLAT),
            ranks="copies > brine > mug", learner="lightgbm", noise=0.2,
        ),
        process(
            "a drop at a thousandth", "log",
            lambda lye, drip: -2.5 * (np.asarray(lye) > 1e-3) + 0.5 * drip,
            columns(240, lye=powers(-6, 0), drip=normal(), glass=normal()),
            facts(lye=true("step-", place=(5e-4, 2e-3)), drip=true("line+"), glass=FLAT),
            ranks="lye > drip > glass", learner="histogram", noise=0.2,
        ),
        process(
            "decline by decades, and blanks at the lowest", "log missing",
            lambda titre, sera: -0.8 * np.log10(filled(titre, 1e4)) + 0.5 * sera,
            lacking(columns(220, titre=powers(-1, 3), sera=normal(), rack=normal()), 0.2, "titre"),
            facts(titre=true("down", missing="lower"), sera=true("line+"), rack=FLAT),
            ranks="titre > sera > rack", learner="histogram", noise=0.2,
        ),
        process(
            "lowest at a hundred", "log",
            lambda ohm, clip: 0.6 * (log10(ohm) - 2) ** 2 + 0.5 * clip,
            columns(200, ohm=powers(-1, 5), clip=normal(), tape=normal()),
            facts(ohm=true("U", place=(20, 500)), clip=true("line+"), tape=FLAT),
            ranks="ohm > clip > tape",
        ),
        process(
            "binding at ever lower concentrations", "log small",
            lambda conc, buffer: 4 / (1 + np.asarray(conc)) + 0.8 * buffer,
            columns(90, conc=powers(-2, 2), buffer=normal()),
            facts(conc=true("down|step-"), buffer=true("line+")),
            ranks="conc > buffer",
        ),
    ]


# --- panels ----------------------------------------------------------------------------------------


def _panels() -> list[Blind]:
    visits = lacking(repeated(50, 4, {"surgery": evenly_of("east west")}, {"serum": normal(), "step": normal()}), 0.2, "serum")
    return [
        process(
            "twenty-five firms, eight years each", "panel",
            lambda capital, debt: 1.6 * capital - debt,
            repeated(25, 8, {"capital": normal(), "patents": normal()}, {"debt": normal(), "strikes": normal()}),
            facts(capital=true("line+"), debt=true("line-"), patents__strikes=FLAT),
            ranks="capital > debt > strikes", cluster="unit", learner="histogram", noise=0.2,
        ),
        process(
            "fifty patients, some serum is lost", "panel missing",
            lambda serum, step: filled(serum) - 3 * gone(serum) + 0.7 * step,
            visits,
            facts(serum=true("line+", missing="lower"), step=true("line+"), surgery=FLAT),
            ranks="serum > step > surgery", cluster="unit", learner="forest", noise=0.2,
        ),
        process(
            "farms of four regions", "panel ties",
            lambda county, feed: number(county, hill=1, dale=0, fen=0, moor=0) * 2.5 + feed,
            repeated(48, 5, {"county": evenly_of("hill dale fen moor")}, {"feed": normal(), "bell": normal()}),
            facts(county=true("levels", high="hill", low="dale fen moor"), feed=true("line+"), bell=FLAT),
            cluster="unit", learner="lightgbm", noise=0.2,
        ),
        process(
            "some households react the other way", "panel",
            lambda renter, levy: np.asarray(levy) * (1 - 2.4 * np.asarray(renter, float)),
            zero_mean(repeated(60, 5, {"renter": exactly(15), "attic": normal()}, {"levy": normal()}), "levy"),
            facts(levy=true(None, "renter", split="renter"), renter=true("flat", "levy", hidden=True, split="levy"), attic=FLAT),
            pair="levy renter", cluster="unit", learner="histogram", noise=0.2,
        ),
        process(
            "twelve rigs over twenty hours", "panel",
            lambda hour, drill: 0.04 * (np.asarray(hour, float) - 9.5) ** 2 + 0.5 * drill,
            also(repeated(12, 20, {"depth": normal()}, {"drill": normal()}), hour=lambda X, rng: np.arange(len(X)) % 20),
            facts(hour=true("U", place=(6, 13)), drill=true("line+"), depth=FLAT),
            ranks="hour > drill > depth", cluster="unit", learner="lightgbm", noise=0.2,
        ),
    ]
