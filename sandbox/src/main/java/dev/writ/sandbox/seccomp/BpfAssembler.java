package dev.writ.sandbox.seccomp;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes classic BPF as the kernel takes it for seccomp: {@code struct sock_filter} of code, jt, jf
 * and k, eight bytes each, in the machine's order. Conditional jumps of BPF reach 255 instructions
 * only, so branches here skip at most one instruction, and use an unconditional jump to go further.
 */
final class BpfAssembler {
  /** The most instructions that the kernel accepts ({@code BPF_MAXINSNS}). */
  static final int MOST = 4096;

  private static final short LOAD_WORD = 0x20; // BPF_LD | BPF_W | BPF_ABS
  private static final short JUMP = 0x05; // BPF_JMP | BPF_JA
  private static final short JUMP_EQUAL = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
  private static final short JUMP_AT_LEAST = 0x35; // BPF_JMP | BPF_JGE | BPF_K
  private static final short JUMP_ANY_BIT = 0x45; // BPF_JMP | BPF_JSET | BPF_K
  private static final short RETURN = 0x06; // BPF_RET | BPF_K

  private record Instruction(short code, int whenTrue, int whenFalse, int k) {}

  /** A place in the program, as the target of jumps. */
  static final class Label {
    private int at = -1;
  }

  private record Far(int from, Label to) {}

  private final List<Instruction> program = new ArrayList<>();
  private final List<Far> jumps = new ArrayList<>();

  void load(int offset) {
    program.add(new Instruction(LOAD_WORD, 0, 0, offset));
  }

  void ret(int value) {
    program.add(new Instruction(RETURN, 0, 0, value));
  }

  void place(Label label) {
    label.at = program.size();
  }

  /** Jumps to a label if the accumulator, unsigned, is less than {@code k}. */
  void jumpBelow(int k, Label label) {
    program.add(new Instruction(JUMP_AT_LEAST, 1, 0, k));
    jump(label);
  }

  void jumpEqual(int k, Label label) {
    program.add(new Instruction(JUMP_EQUAL, 0, 1, k));
    jump(label);
  }

  void jumpUnlessEqual(int k, Label label) {
    program.add(new Instruction(JUMP_EQUAL, 1, 0, k));
    jump(label);
  }

  void jumpIfAnyBit(int mask, Label label) {
    program.add(new Instruction(JUMP_ANY_BIT, 0, 1, mask));
    jump(label);
  }

  void jump(Label label) {
    jumps.add(new Far(program.size(), label));
    program.add(new Instruction(JUMP, 0, 0, 0));
  }

  byte[] assemble() {
    if (program.size() > MOST) {
      throw new IllegalStateException(program.size() + " instructions, more than " + MOST);
    }
    for (Far jump : jumps) {
      // BPF has no loops: each jump goes forward.
      int distance = jump.to().at - jump.from() - 1;
      if (jump.to().at < 0 || distance < 0) {
        throw new IllegalStateException("a jump from " + jump.from() + " to " + jump.to().at);
      }
      program.set(jump.from(), new Instruction(JUMP, 0, 0, distance));
    }
    ByteBuffer bytes = ByteBuffer.allocate(8 * program.size()).order(ByteOrder.nativeOrder());
    for (Instruction i : program) {
      bytes.putShort(i.code()).put((byte) i.whenTrue()).put((byte) i.whenFalse()).putInt(i.k());
    }
    return bytes.array();
  }
}
