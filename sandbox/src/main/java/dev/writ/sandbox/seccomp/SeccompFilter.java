package dev.writ.sandbox.seccomp;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;

/**
 * Compiles the table to a filter program (seccomp(2), {@code SECCOMP_SET_MODE_FILTER}): a search
 * tree over the numbers of system calls, after a check of the architecture, since the same number
 * is another call on another architecture.
 */
public final class SeccompFilter {
  private static final int NUMBER = 0; // offsets in struct seccomp_data
  private static final int ARCHITECTURE = 4;
  private static final int ARGUMENTS = 16;

  private static final int ALLOW = 0x7fff0000;
  private static final int KILL_PROCESS = 0x80000000;
  private static final int ERRNO = 0x00050000;
  private static final int EPERM = 1;
  private static final int ENOSYS = 38;

  /** From this number on calls are of the x32 ABI, which the table does not contain. */
  private static final int X32 = 0x40000000;

  /**
   * Calls from {@code first} up to the next range; a call with a condition is a range of its own.
   */
  private record Range(int first, SystemCall.Verdict verdict) {}

  private final BpfAssembler program = new BpfAssembler();

  private SeccompFilter() {}

  /** The filter's bytes, as {@code bwrap --seccomp} reads them. */
  public static byte[] compile(Architecture architecture, SystemCalls.Rules rules) {
    SeccompFilter filter = new SeccompFilter();
    filter.checkArchitecture(architecture);
    List<Range> ranges = ranges(SystemCalls.of(architecture, rules));
    filter.search(ranges, 0, ranges.size());
    return filter.program.assemble();
  }

  private void checkArchitecture(Architecture architecture) {
    BpfAssembler.Label refuse = new BpfAssembler.Label();
    BpfAssembler.Label go = new BpfAssembler.Label();
    program.load(ARCHITECTURE);
    program.jumpUnlessEqual(architecture.audit(), refuse);
    program.load(NUMBER);
    program.jumpBelow(X32, go);
    program.place(refuse);
    program.ret(KILL_PROCESS);
    program.place(go);
  }

  /**
   * Merges neighbours with the same verdict into ranges; a null verdict is for numbers that are not
   * listed.
   */
  private static List<Range> ranges(List<SystemCall> calls) {
    List<SystemCall> sorted = new ArrayList<>(calls);
    sorted.sort(Comparator.comparingInt(SystemCall::number));
    List<Range> ranges = new ArrayList<>();
    ranges.add(new Range(0, null));
    int next = 0;
    for (SystemCall call : sorted) {
      if (call.number() != next) {
        add(ranges, next, null);
      }
      add(ranges, call.number(), call.verdict());
      next = call.number() + 1;
    }
    add(ranges, next, null);
    return ranges;
  }

  private static void add(List<Range> ranges, int first, SystemCall.Verdict verdict) {
    Range last = ranges.getLast();
    if (last.first() == first) {
      ranges.removeLast();
      if (!ranges.isEmpty() && Objects.equals(ranges.getLast().verdict(), verdict)) {
        return;
      }
      ranges.add(new Range(first, verdict));
    } else if (!Objects.equals(last.verdict(), verdict)) {
      ranges.add(new Range(first, verdict));
    }
  }

  private void search(List<Range> ranges, int from, int to) {
    if (to - from == 1) {
      leaf(ranges.get(from).verdict());
      return;
    }
    int middle = (from + to) >>> 1;
    BpfAssembler.Label below = new BpfAssembler.Label();
    program.jumpBelow(ranges.get(middle).first(), below);
    search(ranges, middle, to);
    program.place(below);
    search(ranges, from, middle);
  }

  private void leaf(SystemCall.Verdict verdict) {
    switch (verdict) {
      case null -> program.ret(ERRNO | ENOSYS);
      case SystemCall.Allow _ -> program.ret(ALLOW);
      case SystemCall.Refuse _ -> program.ret(ERRNO | EPERM);
      case SystemCall.Kill _ -> program.ret(KILL_PROCESS);
      case SystemCall.AllowWhere v -> {
        BpfAssembler.Label refuse = new BpfAssembler.Label();
        v.all().forEach(condition -> goUnless(condition, refuse));
        program.ret(ALLOW);
        program.place(refuse);
        program.ret(ERRNO | EPERM);
      }
      case SystemCall.PassOver v -> {
        BpfAssembler.Label further = new BpfAssembler.Label();
        v.all().forEach(condition -> goUnless(condition, further));
        program.ret(ERRNO);
        program.place(further);
        BpfAssembler.Label allow = new BpfAssembler.Label();
        v.allRefused().forEach(condition -> goUnless(condition, allow));
        program.ret(ERRNO | EPERM);
        program.place(allow);
        program.ret(ALLOW);
      }
    }
  }

  /** Jumps to a label if a condition is false. */
  private void goUnless(SystemCall.Condition condition, BpfAssembler.Label label) {
    program.load(argument(condition.argument()));
    switch (condition) {
      case SystemCall.OneOf c -> {
        BpfAssembler.Label holds = new BpfAssembler.Label();
        c.values().forEach(value -> program.jumpEqual(value, holds));
        program.jump(label);
        program.place(holds);
      }
      case SystemCall.NoneOf c -> c.values().forEach(value -> program.jumpEqual(value, label));
      case SystemCall.Without c -> program.jumpIfAnyBit(c.mask(), label);
    }
  }

  /** The low half of an argument: both architectures are little-endian. */
  private static int argument(int index) {
    return ARGUMENTS + 8 * index;
  }
}
