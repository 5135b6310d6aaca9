"""The loops of the way back: chunks of steps, each followed by the products it allows.

Errors on slots of one chunk of steps lie in a ring and are used up before the next chunk, so the
memory they need does not grow with the sequence. Sums over rows and steps are taken in three
levels, so that their error stays small over any length: within a chunk in registers, over
``GROUP`` chunks, and over groups. How work is shared out among threads changes no sum.
"""

from __future__ import annotations

from tidegate.kernels.batch.carry import carried_blocks, give_errors, take_errors
from tidegate.kernels.batch.forward_code import INACTIVE, RESET
from tidegate.kernels.batch.lane import BACK
from tidegate.kernels.batch.rows import clear_blocks, copy_blocks
from tidegate.kernels.batch.sheet import Sheet, call_known
from tidegate.kernels.code.calls import Argument, Kinds, address_in, call, entry, internal
from tidegate.kernels.code.emit import Emitter, Index, Reals, Words
from tidegate.kernels.code.products import Products, smaller
from tidegate.kernels.code.tiles import Tiling
from tidegate.kernels.code.vector import LLVM, Precision

__all__ = ["CHUNK", "GROUP", "JOB", "write_backward"]

GROUP = 16
CHUNK: Kinds = {"sheet": Words, "first_time": Index, "count": Index, "number": Index}
"""Steps of ``count`` times from ``first_time`` on; ``number`` counts chunks from the last step."""
JOB = (
    "left", "left_offset", "left_time", "columns", "ring", "part", "target", "target_offset",
)  # fmt: skip
"""Words of a job, the weights of one slot: the array that fed it, as position in the sheet,
offset and numbers per time; its columns; where the slot lies in ring and parts; the gradient, as
position in the sheet and offset."""


def write_backward(module: LLVM, products: Products, tiling: Tiling, precision: Precision) -> None:
    """Add ``back_steps``, ``back_products`` (a chunk each) and ``backward(sheet)`` (all)."""
    step = _step_back(module, products, tiling, precision)
    steps = _chunk_steps(module, step, tiling, precision)
    after = _chunk_products(module, products, tiling, precision)
    code = Emitter(module, "backward", {"sheet": Words}, precision)
    (words,) = code.arguments
    sheet = Sheet(code, words)
    total, chunk, reverse = (sheet.index(n) for n in ("steps", "chunk", "reverse"))
    with code.loop((total + (chunk - 1)) // chunk) as c:
        count = smaller(code, total - c * chunk, chunk)
        last = total - c * chunk - count
        first_time = last + reverse * (c * chunk - last)
        for function in (steps, after):
            call(code, function, [words, first_time, count, c])
    code.finish()


def _chunk_steps(module: LLVM, step: LLVM, tiling: Tiling, precision: Precision) -> LLVM:
    code = Emitter(module, "back_steps", CHUNK, precision)
    words, first_time, count, number = code.arguments
    sheet = Sheet(code, words)
    reverse = sheet.index("reverse")
    with code.when(number.equals(0)):
        take_errors(code, sheet, tiling)
    with code.loop(count) as k:
        time = first_time + (count - 1 - k) + reverse * (k * 2 + 1 - count)
        row = (time - first_time) * sheet.index("rows")
        before = time + reverse
        call(code, step, [words, time, before, before - 1 + reverse * 2, row])
    with code.when((number * sheet.index("chunk") + count) >= sheet.index("steps")):
        give_errors(code, sheet, tiling)
    code.finish()
    return code.function


def _step_back(module: LLVM, products: Products, tiling: Tiling, precision: Precision) -> LLVM:
    code = Emitter(module, "step_back", BACK, precision)
    words, time, before, after, ring_row = code.arguments
    sheet = Sheet(code, words)
    carry, stash, ring = (sheet.reals(n) for n in ("carry", "stash", "ring"))
    rows, block = sheet.index("rows"), tiling.block
    carried = carried_blocks(sheet)
    copy_blocks(code, sheet, tiling, time, INACTIVE, carry, stash, carried)
    moment = [words, time, before, after, ring_row]
    call(code, sheet.function("pointwise_back", BACK.values()), moment)
    with code.when(sheet.index("staged") >= 1):
        call_known(code, sheet, "normalise_back_second", BACK.values(), moment)
        _second_products(code, sheet, products, tiling, ring_row)
        call_known(code, sheet, "gate_back", BACK.values(), moment)
        call_known(code, sheet, "normalise_back_first", BACK.values(), moment)
    clear_blocks(
        code, sheet, tiling, time, INACTIVE, ring.at(ring_row * block),
        sheet.index("ring_stride"), sheet.index("sources") * sheet.index("blocks"),
    )  # fmt: skip
    first = sheet.index("first_row")
    call(code, products.product, [
        sheet.index("end_row") - first, sheet.index("hidden_slots") * sheet.index("blocks"),
        block, sheet.table("hidden_table"), ring.at((ring_row + first) * block), block,
        sheet.reals("back_hidden"), 0, sheet.index("hiddens") * sheet.index("blocks"),
        carry.at(first * block), block, rows * block,
    ])  # fmt: skip
    copy_blocks(code, sheet, tiling, time, INACTIVE, stash, carry, carried)
    clear_blocks(code, sheet, tiling, time, RESET, carry, rows * block, carried)
    return internal(code)


def _second_products(
    code: Emitter, sheet: Sheet, products: Products, tiling: Tiling, ring_row: Index
) -> None:
    """Errors on hidden values times each gate, from the slots that they feed."""
    first, rows, block = sheet.index("first_row"), sheet.index("rows"), tiling.block
    width = sheet.index("hiddens") * sheet.index("blocks")
    counts = sheet.table("second_counts")
    with code.loop(sheet.index("gates")) as gate:
        start, count = entry(counts, gate * 2), entry(counts, gate * 2 + 1)
        call(code, products.product, [
            sheet.index("end_row") - first, count, block,
            address_in(sheet.table("second_table"), start),
            sheet.reals("ring").at((ring_row + first) * block), block,
            sheet.reals("back_second").at(start * block * width * block), 0, width,
            sheet.reals("d_gated").at((gate * width * rows + first) * block), block,
            rows * block,
        ])  # fmt: skip


def _chunk_products(module: LLVM, products: Products, tiling: Tiling, precision: Precision) -> LLVM:
    code = Emitter(module, "back_products", CHUNK, precision)
    words, first_time, count, number = code.arguments
    sheet = Sheet(code, words)
    place = number - (number // GROUP) * GROUP
    add = code.flag(place >= 1, 1)
    rows = count * sheet.index("rows")
    _weight_products(code, sheet, products, tiling, first_time, rows, add)
    _sums(code, sheet, tiling, rows, add)
    _input_errors(code, sheet, products, tiling, first_time, rows)
    steps, chunk = sheet.index("steps"), sheet.index("chunk")
    last = (number * chunk + count) >= steps
    with code.when(place.equals(GROUP - 1) | last):
        _fold(code, sheet, products, tiling, code.flag(number >= GROUP, 1))
    code.finish()
    return code.function


def _shared(sheet: Sheet, total: Index) -> tuple[Index, Index]:
    """First and number of the parts of a whole that this thread has."""
    share, shares = sheet.index("share"), sheet.index("shares")
    first = total * share // shares
    return first, total * (share + 1) // shares - first


class _Job:
    """One slot's weights, and some of its unit blocks."""

    def __init__(self, code: Emitter, sheet: Sheet, tiling: Tiling, item: Index) -> None:
        blocks, self.wide = sheet.index("blocks"), max(tiling.columns)
        each = (blocks + (self.wide - 1)) // self.wide
        job = item // each
        self.words = address_in(sheet.table("jobs"), job * len(JOB))
        self.first = (item - job * each) * self.wide
        self.blocks = smaller(code, blocks - self.first, self.wide)
        self.part = sheet.reals("parts").at(
            self.index("part") + self.first * self.index("columns") * tiling.block
        )

    def index(self, name: str) -> Index:
        return self.words.index(JOB.index(name))


def _items(sheet: Sheet, tiling: Tiling) -> Index:
    wide = max(tiling.columns)
    return sheet.index("job_count") * ((sheet.index("blocks") + (wide - 1)) // wide)


def _weight_products(
    code: Emitter, sheet: Sheet, products: Products, tiling: Tiling,
    time: Index, rows: Index, add: Index,
) -> None:  # fmt: skip
    first, count = _shared(sheet, _items(sheet, tiling))
    stride = sheet.index("ring_stride")
    with code.loop(count) as k:
        job = _Job(code, sheet, tiling, first + k)
        left = sheet.word(job.index("left")).at(
            job.index("left_offset") + time * job.index("left_time")
        )
        ring = sheet.reals("ring").at(job.index("ring") + job.first * stride)
        call(code, products.columns, [
            rows, job.index("columns"), left, job.index("columns"), ring, stride, job.blocks,
            job.part, add,
        ])  # fmt: skip


def _sums(code: Emitter, sheet: Sheet, tiling: Tiling, rows: Index, add: Index) -> None:
    """Sums over rows of every source, four at a time."""
    first, count = _shared(sheet, sheet.index("sources") * sheet.index("blocks"))
    lanes, block = tiling.lanes, tiling.block
    with code.loop(count * (block // lanes)) as k:
        at = first * block + k * lanes
        b = at // block
        line = sheet.reals("ring").at(b * sheet.index("ring_stride") + (at - b * block))
        totals = [code.variable(code.number(0.0, width=lanes)) for _ in range(4)]
        with code.loop(rows // 4) as four:
            for n, total in enumerate(totals):
                total.value = total.value + line.load((four * 4 + n) * block, width=lanes)
        with code.loop(rows - rows // 4 * 4) as rest:
            row = rows // 4 * 4 + rest
            totals[0].value = totals[0].value + line.load(row * block, width=lanes)
        now = (totals[0].value + totals[1].value) + (totals[2].value + totals[3].value)
        place = sheet.reals("part_sums")
        with code.either(add >= 1) as (more, anew):
            with more:
                place.store(place.load(at, width=lanes) + now, at)
            with anew:
                place.store(now, at)


def _input_errors(
    code: Emitter, sheet: Sheet, products: Products, tiling: Tiling, time: Index, rows: Index
) -> None:
    """Errors on the input; by way of blocks where a row is no whole number of blocks."""
    first, count = _shared(sheet, rows)
    block, inputs = tiling.block, sheet.index("inputs")
    blocks, stride = sheet.index("input_blocks"), sheet.index("ring_stride")
    start: list[Argument] = [
        count, sheet.index("input_slots") * sheet.index("blocks"), block,
        sheet.table("input_table"), sheet.reals("ring").at(first * block), block,
        sheet.reals("back_input"), 0, blocks,
    ]  # fmt: skip
    with code.when(sheet.index("d_x") >= 1):
        target = sheet.reals("d_x").at((time * sheet.index("rows") + first) * inputs)
        with code.either((blocks * block).equals(inputs)) as (whole, ragged):
            with whole:
                call(code, products.product, [*start, target, inputs, block])
            with ragged:
                scratch = sheet.reals("d_x_blocks").at(first * block)
                call(code, products.product, [*start, scratch, block, stride])
                _unblock(code, tiling, scratch, stride, target, inputs, count, blocks)


def _unblock(
    code: Emitter, tiling: Tiling, source: Reals, stride: Index, target: Reals, width: Index,
    rows: Index, blocks: Index,
) -> None:  # fmt: skip
    with code.loop(rows) as row, code.loop(blocks) as b:
        for start in range(0, tiling.block, tiling.lanes):
            unit = b * tiling.block + start
            value = source.load(b * stride + row * tiling.block + start, width=tiling.lanes)
            mask = code.lane_numbers(tiling.lanes, unit) < width
            target.store_where(mask, value, row * width + unit)


def _fold(code: Emitter, sheet: Sheet, products: Products, tiling: Tiling, more: Index) -> None:
    """Bring what a group of chunks has gathered into the gradient; add where there is some."""
    first, count = _shared(sheet, _items(sheet, tiling))
    block, units = tiling.block, sheet.index("units")
    with code.loop(count) as k:
        job = _Job(code, sheet, tiling, first + k)
        columns = job.index("columns")
        with code.loop(job.blocks) as b:
            unit = (job.first + b) * block
            target = sheet.word(job.index("target")).at(job.index("target_offset") + unit * columns)
            source = job.part.at(b * columns * block)
            height = smaller(code, units - unit, block)
            call(code, products.fold, [target, source, height, columns, more])
    _fold_sums(code, sheet, products, tiling, more)


def _fold_sums(
    code: Emitter, sheet: Sheet, products: Products, tiling: Tiling, more: Index
) -> None:
    """The same for biases and parameters; a source that is neither has nowhere to go."""
    blocks, units, block = sheet.index("blocks"), sheet.index("units"), tiling.block
    first, count = _shared(sheet, sheet.index("sources") * blocks)
    with code.loop(count) as k:
        source = (first + k) // blocks
        b = first + k - source * blocks
        to = address_in(sheet.table("source_targets"), source * 2)
        with code.when(to.index(0) >= 1):
            target = sheet.word(to.index(0)).at(to.index(1) + b * block)
            sums = sheet.reals("part_sums").at((first + k) * block)
            call(code, products.fold, [target, sums, smaller(code, units - b * block, block), 1,
                                       more])  # fmt: skip
