package dev.writ.sandbox.seccomp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.json.Jcs;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class TheFilterSaysWhatTheTableSaysTest {
  private static final int ALLOW = 0x7fff0000;
  private static final int KILL = 0x80000000;
  private static final int EPERM = 0x00050001;
  private static final int DONE_NOTHING = 0x00050000;
  private static final int ENOSYS = 0x00050026;

  /** Runs a filter as the kernel does. */
  private static int run(byte[] filter, int number, int architecture, long... arguments) {
    ByteBuffer data = ByteBuffer.allocate(64).order(ByteOrder.nativeOrder());
    data.putInt(0, number).putInt(4, architecture);
    for (int i = 0; i < arguments.length; i++) {
      data.putLong(16 + 8 * i, arguments[i]);
    }
    ByteBuffer program = ByteBuffer.wrap(filter).order(ByteOrder.nativeOrder());
    int accumulator = 0;
    for (int at = 0; ; at++) {
      int code = program.getShort(8 * at);
      int whenTrue = program.get(8 * at + 2) & 0xff;
      int whenFalse = program.get(8 * at + 3) & 0xff;
      int k = program.getInt(8 * at + 4);
      switch (code) {
        case 0x20 -> accumulator = data.getInt(k);
        case 0x05 -> at += k;
        case 0x15 -> at += accumulator == k ? whenTrue : whenFalse;
        case 0x35 -> at += Integer.compareUnsigned(accumulator, k) >= 0 ? whenTrue : whenFalse;
        case 0x45 -> at += (accumulator & k) != 0 ? whenTrue : whenFalse;
        case 0x06 -> {
          return k;
        }
        default -> throw new AssertionError("an instruction " + code);
      }
    }
  }

  private static int wanted(SystemCall.Verdict verdict, long[] arguments) {
    return switch (verdict) {
      case null -> ENOSYS;
      case SystemCall.Allow _ -> ALLOW;
      case SystemCall.Refuse _ -> EPERM;
      case SystemCall.Kill _ -> KILL;
      case SystemCall.AllowWhere v ->
          v.all().stream().allMatch(c -> holds(c, arguments)) ? ALLOW : EPERM;
      case SystemCall.PassOver v ->
          v.all().stream().allMatch(c -> holds(c, arguments))
              ? DONE_NOTHING
              : v.allRefused().stream().allMatch(c -> holds(c, arguments)) ? EPERM : ALLOW;
    };
  }

  private static boolean holds(SystemCall.Condition condition, long[] arguments) {
    int low = (int) arguments[condition.argument()];
    return switch (condition) {
      case SystemCall.OneOf c -> c.values().contains(low);
      case SystemCall.NoneOf c -> !c.values().contains(low);
      case SystemCall.Without c -> (low & c.mask()) == 0;
    };
  }

  static List<Arguments> filters() {
    List<Arguments> all = new ArrayList<>();
    for (Architecture architecture : Architecture.values()) {
      for (SystemCalls.Rules rules : SystemCalls.Rules.values()) {
        all.add(Arguments.of(architecture, rules));
      }
    }
    return all;
  }

  @ParameterizedTest
  @MethodSource("filters")
  void forEveryNumberAndManyArguments(Architecture architecture, SystemCalls.Rules rules) {
    long seed = Long.getLong("writ.seed", 20261122L);
    Random random = new Random(seed);
    byte[] filter = SeccompFilter.compile(architecture, rules);
    TreeMap<Integer, SystemCall.Verdict> table = new TreeMap<>();
    SystemCalls.of(architecture, rules).forEach(c -> table.put(c.number(), c.verdict()));
    assertThat(table).hasSizeGreaterThan(300);
    assertThat(filter.length / 8).isLessThan(BpfAssembler.MOST);
    for (int number = 0; number < 2_000; number++) {
      for (int round = 0; round < 20; round++) {
        long[] arguments = new long[6];
        for (int i = 0; i < 6; i++) {
          arguments[i] = random.nextBoolean() ? random.nextInt(64) : random.nextLong();
        }
        assertThat(run(filter, number, architecture.audit(), arguments))
            .as("%s %d, seed %d", architecture, number, seed)
            .isEqualTo(wanted(table.get(number), arguments));
      }
    }
    for (int number : new int[] {0x40000000, 0x40000001, -1, Integer.MIN_VALUE}) {
      assertThat(run(filter, number, architecture.audit())).isEqualTo(KILL);
    }
    for (int other : new int[] {0x40000003, 0, architecture.audit() ^ 1}) {
      assertThat(run(filter, 0, other)).isEqualTo(KILL);
    }
  }

  private static SystemCall call(Architecture architecture, String name) {
    return SystemCalls.of(architecture, SystemCalls.Rules.OPEN).stream()
        .filter(c -> c.name().equals(name))
        .findFirst()
        .orElseThrow();
  }

  @ParameterizedTest
  @EnumSource
  void whatMakesNamespacesOrReadsOthersIsNotAllowed(Architecture architecture) {
    byte[] filter = SeccompFilter.compile(architecture, SystemCalls.Rules.OPEN);
    for (String name :
        List.of(
            "ptrace",
            "process_vm_readv",
            "mount",
            "umount2",
            "setns",
            "bpf",
            "init_module",
            "kexec_load",
            "reboot",
            "unshare",
            "keyctl",
            "perf_event_open",
            "userfaultfd",
            "open_by_handle_at",
            "io_uring_setup")) {
      int number = call(architecture, name).number();
      assertThat(run(filter, number, architecture.audit())).as(name).isIn(KILL, EPERM);
    }
    // clone3's flags are behind a pointer: it is not known here, so that libc falls back to clone.
    assertThat(run(filter, 435, architecture.audit())).isEqualTo(ENOSYS);
    int clone = call(architecture, "clone").number();
    assertThat(run(filter, clone, architecture.audit(), 0x003d0f00)).isEqualTo(ALLOW);
    for (int bit :
        new int[] {
          0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000
        }) {
      assertThat(run(filter, clone, architecture.audit(), 0x11L | bit)).isEqualTo(EPERM);
    }
    int socket = call(architecture, "socket").number();
    for (int family = 0; family < 64; family++) {
      boolean allowed = family == 1 || family == 2 || family == 10;
      assertThat(run(filter, socket, architecture.audit(), family, 1))
          .isEqualTo(allowed ? ALLOW : EPERM);
    }
    for (int protocol :
        new int[] {1, 2, 132, 136, 256, 262}) { // ICMP, IGMP, SCTP, UDP-Lite, SMC, MPTCP
      assertThat(run(filter, socket, architecture.audit(), 2, 1, protocol)).isEqualTo(EPERM);
    }
    // The kernel would count what is received there as nobody's memory.
    int option = call(architecture, "setsockopt").number();
    assertThat(run(filter, option, architecture.audit(), 3, 1, 8)).isEqualTo(DONE_NOTHING);
    assertThat(run(filter, option, architecture.audit(), 3, 1, 18)).isEqualTo(DONE_NOTHING);
    assertThat(run(filter, option, architecture.audit(), 3, 1L << 32 | 1, 8))
        .isEqualTo(DONE_NOTHING);
    assertThat(run(filter, option, architecture.audit(), 3, 6, 8)).isEqualTo(ALLOW);
    assertThat(run(filter, option, architecture.audit(), 3, 1, 7)).isEqualTo(ALLOW);
    // A socket's filter becomes machine code, and a large page is the host's: nobody's memory
    // either.
    assertThat(run(filter, option, architecture.audit(), 3, 1, 26)).isEqualTo(EPERM);
    assertThat(run(filter, option, architecture.audit(), 3, 1, 51)).isEqualTo(EPERM);
    assertThat(run(filter, option, architecture.audit(), 3, 6, 26)).isEqualTo(ALLOW);
    int map = call(architecture, "mmap").number();
    assertThat(run(filter, map, architecture.audit(), 0, 4096, 3, 0x22)).isEqualTo(ALLOW);
    assertThat(run(filter, map, architecture.audit(), 0, 4096, 3, 0x40022)).isEqualTo(EPERM);
    int memory = call(architecture, "memfd_create").number();
    assertThat(run(filter, memory, architecture.audit(), 0, 1)).isEqualTo(ALLOW);
    assertThat(run(filter, memory, architecture.audit(), 0, 5)).isEqualTo(EPERM);
    int shared = call(architecture, "shmget").number();
    assertThat(run(filter, shared, architecture.audit(), 0, 4096, 0x380)).isEqualTo(ALLOW);
    assertThat(run(filter, shared, architecture.audit(), 0, 4096, 0xb80)).isEqualTo(EPERM);
    assertThat(run(filter, call(architecture, "mbind").number(), architecture.audit()))
        .isEqualTo(EPERM);
    int ioctl = call(architecture, "ioctl").number();
    assertThat(run(filter, ioctl, architecture.audit(), 0, 0x5412)).isEqualTo(EPERM);
    assertThat(run(filter, ioctl, architecture.audit(), 0, 0x100005412L)).isEqualTo(EPERM);
    assertThat(run(filter, ioctl, architecture.audit(), 0, 0x541C)).isEqualTo(EPERM);
    assertThat(run(filter, ioctl, architecture.audit(), 0, 0x5423)).isEqualTo(EPERM);
    assertThat(run(filter, ioctl, architecture.audit(), 0, 0x5413)).isEqualTo(ALLOW);
  }

  @ParameterizedTest
  @EnumSource
  void noFileOfMemoryWhereProgramsAreListed(Architecture architecture) {
    int number = call(architecture, "memfd_create").number();
    byte[] open = SeccompFilter.compile(architecture, SystemCalls.Rules.OPEN);
    byte[] listed = SeccompFilter.compile(architecture, SystemCalls.Rules.LISTED);
    assertThat(run(open, number, architecture.audit())).isEqualTo(ALLOW);
    assertThat(run(listed, number, architecture.audit())).isEqualTo(ENOSYS);
    // Of the host's 65,536 contexts of asynchronous input and output nobody gets one.
    int setup = architecture == Architecture.X86_64 ? 206 : 0;
    assertThat(run(open, setup, architecture.audit())).isEqualTo(ENOSYS);
  }

  @Test
  void knownNumbersAreWhatTheKernelSays() {
    assertThat(call(Architecture.X86_64, "openat").number()).isEqualTo(257);
    assertThat(call(Architecture.X86_64, "ptrace").number()).isEqualTo(101);
    assertThat(call(Architecture.AARCH64, "openat").number()).isEqualTo(56);
    assertThat(call(Architecture.AARCH64, "ptrace").number()).isEqualTo(117);
    assertThat(call(Architecture.AARCH64, "clone").number()).isEqualTo(220);
    assertThatThrownBy(() -> call(Architecture.AARCH64, "open"))
        .isInstanceOf(RuntimeException.class);
    assertThat(Architecture.of("amd64")).isEqualTo(Architecture.X86_64);
    assertThatThrownBy(() -> Architecture.of("s390x")).hasMessageContaining("SBX-007");
  }

  @ParameterizedTest
  @MethodSource("filters")
  void theOciFormHasTheSameNames(Architecture architecture, SystemCalls.Rules rules) {
    String json = new String(Jcs.write(OciSeccomp.of(architecture, rules)), StandardCharsets.UTF_8);
    for (SystemCall call : SystemCalls.of(architecture, rules)) {
      assertThat(json).contains("\"" + call.name() + "\"");
    }
    assertThat(json).doesNotContain("\"clone3\"").contains("\"defaultAction\":\"SCMP_ACT_ERRNO\"");
  }
}
