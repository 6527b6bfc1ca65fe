"""What stands on the pages of a PDF: text with its font's letters, rectangles and lines."""

import base64
import re
import zlib
from dataclasses import dataclass, field
from typing import TypeAlias

Box: TypeAlias = tuple[float, float, float, float]
MM = 72 / 25.4


@dataclass
class Page:
    """One page, in millimetres."""

    size: tuple[float, float]
    text: str = ""
    boxes: list[tuple[Box, str]] = field(default_factory=list)
    """Filled rectangles as they lie, and the operands of their colour."""
    lines: int = 0


def pages(pdf: bytes) -> list[Page]:
    objects = {int(n): body for n, body in re.findall(rb"(\d+) 0 obj\s(.*?)endobj", pdf, re.DOTALL)}
    letters = fonts(objects)
    return [
        page(objects, body, letters)
        for body in objects.values()
        if re.search(rb"/Type /Page\s", body)
    ]


def reference(body: bytes, name: bytes) -> int:
    found = re.search(name + rb" (\d+) 0 R", body)
    assert found, name
    return int(found[1])


def stream(body: bytes) -> bytes:
    found = re.search(rb"stream\r?\n(.*?)endstream", body, re.DOTALL)
    assert found
    content = found[1].strip()
    if b"ASCII85Decode" in body:
        content = base64.a85decode(content.removesuffix(b"~>"))
    return zlib.decompress(content) if b"FlateDecode" in body else content


def fonts(objects: dict[int, bytes]) -> dict[bytes, dict[int, str]]:
    """Letters by code, by the name that pages call a font."""
    named = dict(re.findall(rb"/(F\d+\+\d+) (\d+) 0 R", b"".join(objects.values())))
    found = {}
    for name, number in named.items():
        cmap = stream(objects[reference(objects[int(number)], b"/ToUnicode")])
        table: dict[int, str] = {}
        for first, rows in re.findall(rb"<(\w+)> <\w+> \[(.*?)\]", cmap, re.DOTALL):
            for code, text in enumerate(re.findall(rb"<(\w+)>", rows), int(first, 16)):
                table[code] = chr(int(text, 16))
        for code, text in re.findall(rb"^<(\w+)> <(\w+)>$", cmap, re.MULTILINE):
            table[int(code, 16)] = chr(int(text, 16))
        found[name] = table
    return found


def page(objects: dict[int, bytes], body: bytes, letters: dict[bytes, dict[int, str]]) -> Page:
    box = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", body)
    assert box
    drawing = Drawing(Page((float(box[1]) / MM, float(box[2]) / MM)), letters)
    stack: list[bytes] = []
    content = stream(objects[reference(body, b"/Contents")])
    for token in re.findall(rb"\((?:\\.|[^\\()])*\)|[^\s()]+", content, re.DOTALL):
        if re.fullmatch(rb"[A-Za-z]+[*]?", token):
            drawing.does(token, stack)
            stack.clear()
        else:
            stack.append(token)
    return drawing.page


@dataclass
class Drawing:
    """What the operators of a page's content did so far."""

    page: Page
    letters: dict[bytes, dict[int, str]]
    where: tuple[float, float] = (0.0, 0.0)
    kept: list[tuple[float, float]] = field(default_factory=list)
    fill: str = ""
    font: bytes = b""

    def does(self, operator: bytes, given: list[bytes]) -> None:
        if operator == b"q":
            self.kept.append(self.where)
        elif operator == b"Q":
            self.where = self.kept.pop()
        elif operator == b"cm" and given[:4] == [b"1", b"0", b"0", b"1"]:
            self.where = self.where[0] + float(given[4]), self.where[1] + float(given[5])
        elif operator == b"rg":
            self.fill = b" ".join(given).decode()
        elif operator == b"re":
            x, y, wide, high = map(float, given)
            x, y = self.where[0] + x, self.where[1] + y
            self.page.boxes.append(((x / MM, y / MM, wide / MM, high / MM), self.fill))
        elif operator == b"l":
            self.page.lines += 1
        else:
            self.writes(operator, given)

    def writes(self, operator: bytes, given: list[bytes]) -> None:
        if operator == b"Tf":
            self.font = given[0].removeprefix(b"/")
        elif operator == b"Tj":
            self.page.text += said(given[0], self.letters.get(self.font, {}))
        elif operator in (b"ET", b"T*"):
            self.page.text += "\n"


def said(token: bytes, letters: dict[int, str]) -> str:
    escaped = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}

    def plain(found: re.Match[bytes]) -> bytes:
        code = found[1]
        return bytes([int(code, 8)]) if code[:1].isdigit() else escaped.get(code, code)

    codes = re.sub(rb"\\([0-7]{1,3}|.)", plain, token[1:-1], flags=re.DOTALL)
    return "".join(letters.get(code, chr(code)) for code in codes)
