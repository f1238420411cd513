package dev.writ.tools.wasm;

import com.dylibso.chicory.wasm.WasmModule;
import com.dylibso.chicory.wasm.types.AnnotatedInstruction;
import com.dylibso.chicory.wasm.types.FunctionBody;
import com.dylibso.chicory.wasm.types.OpCode;
import dev.writ.canonicalize.WritException;
import dev.writ.tools.error.ToolsError;
import java.io.ByteArrayOutputStream;

/**
 * Rewrites a module so that each arithmetic result that is not a number becomes the one canonical
 * NaN. WebAssembly does not define its bits (Core 2.0, 4.3.3), and processors differ: x86 sets the
 * sign and ARM does not, so without this a program could tell machines apart. After every such
 * instruction, code is inserted that keeps the value if it equals itself, and otherwise takes the
 * constant.
 */
final class NanCanonicalizer {
  private static final int CODE_SECTION = 10;
  private static final int HEADER_BYTES = 8;

  private static final int LOCAL_GET = 0x20;
  private static final int LOCAL_TEE = 0x22;
  private static final int SELECT = 0x1b;
  private static final int F32_CONST = 0x43;
  private static final int F64_CONST = 0x44;
  private static final int F32_EQ = 0x5b;
  private static final int F64_EQ = 0x61;
  private static final int TYPE_F32 = 0x7d;
  private static final int TYPE_F64 = 0x7c;
  private static final byte[] F32_NAN = {0, 0, (byte) 0xc0, 0x7f};
  private static final byte[] F64_NAN = {0, 0, 0, 0, 0, 0, (byte) 0xf8, 0x7f};

  private final byte[] bytes;
  private final WasmModule module;
  private int at;

  private NanCanonicalizer(byte[] bytes, WasmModule module) {
    this.bytes = bytes;
    this.module = module;
  }

  /**
   * The rewritten module; {@code module} is what {@code bytes} were parsed and validated to.
   *
   * @throws WritException {@code TOL-011} where a section or function is longer or shorter than it
   *     says, which the parser overlooks
   */
  static byte[] rewrite(byte[] bytes, WasmModule module) {
    try {
      return new NanCanonicalizer(bytes, module).rewrite();
    } catch (IndexOutOfBoundsException | NegativeArraySizeException | IllegalArgumentException e) {
      throw new WritException(ToolsError.MODULE_INVALID, "sizes that do not fit its content", e);
    }
  }

  private byte[] rewrite() {
    ByteArrayOutputStream out = new ByteArrayOutputStream(bytes.length * 2);
    out.write(bytes, 0, HEADER_BYTES);
    at = HEADER_BYTES;
    while (at < bytes.length) {
      int id = bytes[at++];
      int size = readInt();
      byte[] content;
      if (id == CODE_SECTION) {
        content = code();
      } else {
        content = new byte[size];
        System.arraycopy(bytes, at, content, 0, size);
        at += size;
      }
      out.write(id);
      writeInt(out, content.length);
      out.writeBytes(content);
    }
    return out.toByteArray();
  }

  private byte[] code() {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    int count = readInt();
    writeInt(out, count);
    for (int i = 0; i < count; i++) {
      int size = readInt();
      byte[] body = body(i, at + size);
      writeInt(out, body.length);
      out.writeBytes(body);
    }
    return out.toByteArray();
  }

  /** One function, from its locals to its last instruction before {@code end}. */
  private byte[] body(int index, int end) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(end - at);
    FunctionBody function = module.codeSection().functionBodies()[index];
    if (function.instructions().stream().noneMatch(i -> type(i.opcode()) != 0)) {
      out.write(bytes, at, end - at);
      at = end;
      return out.toByteArray();
    }
    int type = module.functionSection().getFunctionType(index);
    long free = module.typeSection().getType(type).params().size();
    int groups = readInt();
    writeInt(out, groups + 2);
    for (int i = 0; i < groups; i++) {
      int begin = at;
      free += Integer.toUnsignedLong(readInt());
      readInt();
      out.write(bytes, begin, at - begin);
    }
    out.write(1);
    out.write(TYPE_F32);
    out.write(1);
    out.write(TYPE_F64);
    for (AnnotatedInstruction instruction : function.instructions()) {
      int result = type(instruction.opcode());
      if (result != 0) {
        int next = instruction.address() + 1;
        out.write(bytes, at, next - at);
        at = next;
        canonicalize(out, result, (int) free);
      }
    }
    out.write(bytes, at, end - at);
    at = end;
    return out.toByteArray();
  }

  /** Canonicalises the value on top of the stack; {@code free} is the first of our two locals. */
  private static void canonicalize(ByteArrayOutputStream out, int type, int free) {
    boolean single = type == TYPE_F32;
    int local = single ? free : free + 1;
    out.write(LOCAL_TEE);
    writeInt(out, local);
    out.write(single ? F32_CONST : F64_CONST);
    out.writeBytes(single ? F32_NAN : F64_NAN);
    out.write(LOCAL_GET);
    writeInt(out, local);
    out.write(LOCAL_GET);
    writeInt(out, local);
    out.write(single ? F32_EQ : F64_EQ);
    out.write(SELECT);
  }

  /** The type of an instruction's result where that can be a new NaN, or 0; all take one byte. */
  private static int type(OpCode opcode) {
    return switch (opcode) {
      case F32_CEIL,
          F32_FLOOR,
          F32_TRUNC,
          F32_NEAREST,
          F32_SQRT,
          F32_ADD,
          F32_SUB,
          F32_MUL,
          F32_DIV,
          F32_MIN,
          F32_MAX,
          F32_DEMOTE_F64 ->
          TYPE_F32;
      case F64_CEIL,
          F64_FLOOR,
          F64_TRUNC,
          F64_NEAREST,
          F64_SQRT,
          F64_ADD,
          F64_SUB,
          F64_MUL,
          F64_DIV,
          F64_MIN,
          F64_MAX,
          F64_PROMOTE_F32 ->
          TYPE_F64;
      default -> 0;
    };
  }

  /** An unsigned or signed LEB128 of at most 32 bits, which the parser has accepted already. */
  private int readInt() {
    int value = 0;
    int shift = 0;
    int b;
    do {
      b = bytes[at++];
      value |= (b & 0x7f) << shift;
      shift += 7;
    } while ((b & 0x80) != 0);
    return value;
  }

  private static void writeInt(ByteArrayOutputStream out, int value) {
    int left = value;
    while ((left & ~0x7f) != 0) {
      out.write(left & 0x7f | 0x80);
      left >>>= 7;
    }
    out.write(left);
  }
}
