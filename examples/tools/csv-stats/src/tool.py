"""Statistics of the columns of a CSV table."""
import csv
import io
import math
import re
import statistics

BYTES_MAX = 16 << 20
COLUMNS_MAX = 200
CELLS_MAX = 2_000_000
FIELD_CHARS_MAX = 10_000
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)


def columns(input, context):
    text = table(input, context)
    csv.field_size_limit(FIELD_CHARS_MAX)
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=input.get("delimiter", ","), strict=True
    )
    try:
        return summary(reader)
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: {error}") from None


def table(input, context):
    files = context["inputs"]
    if ("text" in input) == bool(files):
        raise ValueError("give the table as text, or as one input file")
    if "text" in input:
        return input["text"]
    if len(files) > 1:
        raise ValueError(f"{len(files)} input files; one table at a time")
    with open(files[0], "rb") as file:
        data = file.read(BYTES_MAX + 1)
    if len(data) > BYTES_MAX:
        raise ValueError(f"the table has more than {BYTES_MAX} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"the table is not UTF-8 at byte {error.start}") from None


def summary(reader):
    names = next(reader, None)
    if not names:
        raise ValueError("the table has no header")
    if len(names) > COLUMNS_MAX:
        raise ValueError(f"{len(names)} columns, at most {COLUMNS_MAX}")
    if len(set(names)) < len(names):
        raise ValueError("two columns have one name")
    values = [[] for _ in names]
    rows = 0
    for row in reader:
        if not row:
            continue  # an empty line
        if len(row) != len(names):
            raise ValueError(f"line {reader.line_num} has {len(row)} fields, the header {len(names)}")
        rows += 1
        if rows * len(names) > CELLS_MAX:
            raise ValueError(f"more than {CELLS_MAX} cells")
        for cells, cell in zip(values, row):
            cells.append(cell.strip())
    return {"rows": rows, "columns": [column(*each) for each in zip(names, values)]}


def column(name, cells):
    full = [cell for cell in cells if cell]
    result = {"name": name, "empty": len(cells) - len(full), "distinct": len(set(full))}
    numbers = [number(cell) for cell in full]
    if not full:
        return {**result, "kind": "empty"}
    if None in numbers:
        return {**result, "kind": "text"}
    mean = math.fsum(numbers) / len(numbers)
    return {
        **result,
        "kind": "number",
        "min": min(numbers),
        "max": max(numbers),
        "mean": finite(mean),
        "median": finite(statistics.median(numbers)),
        "deviation": finite(math.sqrt(math.fsum((n - mean) ** 2 for n in numbers) / len(numbers))),
    }


def number(cell):
    """None for what is no finite number; NaN and infinity are text here."""
    if len(cell) > 40 or not NUMBER.fullmatch(cell):
        return None
    value = float(cell)
    return value if math.isfinite(value) else None


def finite(value):
    if not math.isfinite(value):
        raise ValueError("the numbers of a column are too large to add up")
    return value
