package dev.writ.cli.command;

import java.io.FileInputStream;
import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;

/**
 * SIGHUP, by which operators tell a server to read its configuration again. If it comes because the
 * server's terminal was closed, it ends the server, as it would any other program.
 */
public final class HangUp {
  private static final int STATUS = 129;

  private HangUp() {}

  /**
   * @return whether this JVM receives the signal; it does not with -Xrs
   */
  public static boolean then(Runnable reload) {
    boolean ofTerminal = hasTerminal();
    return handle(() -> {
      if (ofTerminal && !hasTerminal()) {
        System.exit(STATUS);
      }
      reload.run();
    });
  }

  /** Whether this process has a terminal; it has none after a hangup. */
  private static boolean hasTerminal() {
    try (FileInputStream _ = new FileInputStream("/dev/tty")) {
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /** By reflection: the compiler's warning about this class cannot be switched off. */
  private static boolean handle(Runnable work) {
    try {
      Class<?> signal = Class.forName("sun.misc.Signal");
      Class<?> handler = Class.forName("sun.misc.SignalHandler");
      InvocationHandler called =
          (proxy, method, arguments) ->
              switch (method.getName()) {
                case "handle" -> {
                  work.run();
                  yield null;
                }
                case "equals" -> proxy == arguments[0];
                case "hashCode" -> System.identityHashCode(proxy);
                default -> "SIGHUP";
              };
      signal
          .getMethod("handle", signal, handler)
          .invoke(
              null,
              signal.getConstructor(String.class).newInstance("HUP"),
              Proxy.newProxyInstance(
                  HangUp.class.getClassLoader(), new Class<?>[] {handler}, called));
      return true;
    } catch (ReflectiveOperationException e) {
      return false;
    }
  }
}
