// Packs entries into the one form of spec/bundle.md (below 65,535 of them), for forgeries that fit.

export function pack(V, entries) {
  const parts = [];
  const directory = [];
  let offset = 0;
  for (const [name, bytes] of [...entries].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const nameBytes = V.utf8(name);
    const shared = new DataView(new ArrayBuffer(26));
    shared.setUint16(0, 10, true);
    shared.setUint16(8, 0x21, true);
    shared.setUint32(10, V.crc32(bytes), true);
    shared.setUint32(14, bytes.length, true);
    shared.setUint32(18, bytes.length, true);
    shared.setUint16(22, nameBytes.length, true);
    const header = new Uint8Array(shared.buffer);
    parts.push(Uint8Array.of(0x50, 0x4b, 3, 4), header, nameBytes, bytes);
    const rest = new DataView(new ArrayBuffer(14));
    rest.setUint32(10, offset, true);
    directory.push(Uint8Array.of(0x50, 0x4b, 1, 2, 10, 0), header, new Uint8Array(rest.buffer), nameBytes);
    offset += 30 + nameBytes.length + bytes.length;
  }
  const central = V.concat(...directory);
  const end = new DataView(new ArrayBuffer(22));
  end.setUint32(0, 0x06054b50, true);
  end.setUint16(8, entries.size, true);
  end.setUint16(10, entries.size, true);
  end.setUint32(12, central.length, true);
  end.setUint32(16, offset, true);
  return V.concat(...parts, central, new Uint8Array(end.buffer));
}
