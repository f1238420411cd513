package dev.writ.cli.home;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.writ.canonicalize.disk.CLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Map;
import java.util.Optional;

/**
 * Tells the manager of this service how it is, by the protocol of sd_notify(3): one datagram to the
 * socket that {@code NOTIFY_SOCKET} names. Without that variable nothing is told. The JDK has no
 * datagrams over Unix sockets, so the C library sends it.
 */
public final class ServiceManager {
  private static final String VARIABLE = "NOTIFY_SOCKET";

  private static final int AF_UNIX = 1;
  private static final int SOCK_DGRAM_CLOEXEC = 2 | 0x80000;

  /** Of sun_path in unix(7), with the zero at its end. */
  private static final int PATH_BYTES = 108;

  private final Optional<String> socket;

  private ServiceManager(Optional<String> socket) {
    this.socket = socket;
  }

  /** The one that the environment names, if any. */
  public static ServiceManager of(Map<String, String> environment) {
    return new ServiceManager(
        Optional.ofNullable(environment.get(VARIABLE)).filter(name -> !name.isEmpty()));
  }

  /** Says that connections are accepted, and, once the process is asked to end, that it ends. */
  public void ready() {
    if (tell("READY=1")) {
      Runtime.getRuntime()
          .addShutdownHook(new Thread(() -> tell("STOPPING=1"), "writ-service-manager"));
    }
  }

  /** Whether that was sent. A manager that does not listen is no reason to stop serving. */
  boolean tell(String state) {
    byte[] path = socket.orElse("").getBytes(UTF_8);
    return path.length > 0 && path.length < PATH_BYTES && send(path, state.getBytes(UTF_8));
  }

  private static boolean send(byte[] path, byte[] message) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment errno = CLibrary.capture(arena);
      MethodHandle socket =
          CLibrary.function(
              "socket", ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT);
      int descriptor = (int) socket.invokeExact(errno, AF_UNIX, SOCK_DGRAM_CLOEXEC, 0);
      if (descriptor < 0) {
        return false;
      }
      try {
        MethodHandle sendto =
            CLibrary.function(
                "sendto",
                ValueLayout.JAVA_INT,
                ValueLayout.ADDRESS,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_INT,
                ValueLayout.ADDRESS,
                ValueLayout.JAVA_INT);
        MemorySegment data = arena.allocateFrom(ValueLayout.JAVA_BYTE, message);
        int sent =
            (int)
                sendto.invokeExact(
                    errno,
                    descriptor,
                    data,
                    (long) message.length,
                    0,
                    address(arena, path),
                    Short.BYTES + path.length);
        return sent == message.length;
      } finally {
        CLibrary.close(descriptor);
      }
    } catch (Throwable e) {
      throw new IllegalStateException("socket(2) and sendto(2) cannot be called", e);
    }
  }

  /** A name that begins with @ is no file: in its place stands a zero. */
  private static MemorySegment address(Arena arena, byte[] path) {
    MemorySegment address = arena.allocate(Short.BYTES + PATH_BYTES, Short.BYTES);
    address.set(ValueLayout.JAVA_SHORT, 0, (short) AF_UNIX);
    MemorySegment.copy(path, 0, address, ValueLayout.JAVA_BYTE, Short.BYTES, path.length);
    if (path[0] == '@') {
      address.set(ValueLayout.JAVA_BYTE, Short.BYTES, (byte) 0);
    }
    return address;
  }
}
