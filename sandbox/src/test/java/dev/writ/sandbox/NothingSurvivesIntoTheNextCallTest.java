package dev.writ.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.writ.sandbox.egress.Resolver;
import dev.writ.sandbox.testing.TestEngines;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What a command leaves behind on purpose is not there for the next one, neither in its sandbox nor
 * in another that gets the same user id: processes, sockets, memory, queues, files beside the
 * workspace.
 */
class NothingSurvivesIntoTheNextCallTest {
  private static final String LEAVE =
      """
      import ctypes, os, socket, sys, time
      c = ctypes.CDLL(None, use_errno=True)
      for place in ("/tmp", "/dev/shm", "/workspace"):
          open(place + "/left", "w").write("left")
      assert c.shmget(77, 4096, 0o1666) >= 0 and c.msgget(77, 0o1666) >= 0
      assert c.semget(77, 1, 0o1666) >= 0
      assert c.mq_open(b"/left", os.O_CREAT | os.O_RDWR, 0o666, None) >= 0
      listeners = []
      for family, address in ((socket.AF_UNIX, "\\0left"), (socket.AF_INET, ("127.0.0.1", 7777))):
          listeners.append(socket.socket(family))
          listeners[-1].bind(address)
          listeners[-1].listen()
      os.inotify = c.inotify_init()
      if os.fork() == 0:
          os.setsid()
          if os.fork() == 0:
              null = os.open("/dev/null", os.O_RDWR)
              for fd in (0, 1, 2):
                  os.dup2(null, fd)
              while True:
                  time.sleep(600)
          os._exit(0)
      os.wait()
      print("LEFT")
      """;

  private static final String LOOK =
      """
      import ctypes, os, socket, sys
      c = ctypes.CDLL(None, use_errno=True)
      found = ["/tmp/" + n for n in os.listdir("/tmp")] + ["shm " + n for n in os.listdir("/dev/shm")]
      for kind in ("shm", "msg", "sem"):
          found += open("/proc/sysvipc/" + kind).read().splitlines()[1:]
      if c.mq_open(b"/left", os.O_RDWR) >= 0:
          found.append("a queue")
      for family, address in ((socket.AF_UNIX, "\\0left"), (socket.AF_INET, ("127.0.0.1", 7777))):
          try:
              socket.socket(family).connect(address)
              found.append("a socket")
          except OSError:
              pass
      for pid in (p for p in os.listdir("/proc") if p.isdigit() and int(p) not in (1, os.getpid())):
          try:
              line = open("/proc/%s/cmdline" % pid, "rb").read().replace(b"\\0", b" ").decode()
          except OSError:
              continue
          if "LEFT" in line or not line:
              found.append("process " + line[:40])
      print(found, os.path.exists("/workspace/left"))
      """;

  private static final int ATTEMPTS_MAX = 50;

  private static TestEngines engines;

  @BeforeAll
  static void open() {
    engines = TestEngines.withContainers(Resolver.HOST);
  }

  @AfterAll
  static void close() {
    engines.close();
  }

  static List<String> engines() {
    return TestEngines.allNames();
  }

  private static Sandbox sandbox(String engine) {
    return engines
        .named(engine)
        .create(SandboxSpec.of(TestEngines.newId(), Profile.named("default")));
  }

  private static String python(Sandbox sandbox, String program) {
    Ended ended = sandbox.exec(Command.of("/usr/bin/python3", "-c", program));
    String err = new String(ended.stderr().bytes(), StandardCharsets.UTF_8);
    assertThat(ended.succeeded()).as(err).isTrue();
    return new String(ended.stdout().bytes(), StandardCharsets.UTF_8);
  }

  @ParameterizedTest
  @MethodSource("engines")
  void onlyTheWorkspaceDoes(String engine) {
    for (int i = 0; i < ATTEMPTS_MAX; i++) {
      if (nextCallIsOfTheSameUser(engine)) {
        return;
      }
    }
    fail("no user came twice in " + ATTEMPTS_MAX + " calls");
  }

  /** Another process on this machine may take the user that the first call had. */
  private static boolean nextCallIsOfTheSameUser(String engine) {
    long uid;
    try (Sandbox sandbox = sandbox(engine)) {
      uid = sandbox.workspace().owner();
      assertThat(python(sandbox, LEAVE)).isEqualTo("LEFT\n");
      assertThat(python(sandbox, LOOK)).isEqualTo("[] True\n");
    }
    try (Sandbox sandbox = sandbox(engine)) {
      assertThat(python(sandbox, LOOK)).isEqualTo("[] False\n");
      return sandbox.workspace().owner() == uid;
    }
  }
}
