package dev.writ.tools.js;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.lang.reflect.Method;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What all calls of a process share is made in whole, whatever becomes of the first of them. */
class TheFirstCallOfJsMayBeInterruptedTest {
  /** The same classes once more, in which nobody has called {@code js} yet. */
  private static URLClassLoader anew() {
    URL[] places =
        Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
            .map(TheFirstCallOfJsMayBeInterruptedTest::url)
            .toArray(URL[]::new);
    return new URLClassLoader(places, ClassLoader.getPlatformClassLoader());
  }

  private static URL url(String place) {
    try {
      return Path.of(place).toUri().toURL();
    } catch (MalformedURLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void anInterruptOfTheFirstCallIsNoOtherCalls() throws Exception {
    try (URLClassLoader loader = anew()) {
      Method snapshot = loader.loadClass("dev.writ.tools.js.Prelude").getDeclaredMethod("snapshot");
      snapshot.setAccessible(true);
      Thread.currentThread().interrupt();
      Object first = snapshot.invoke(null);
      assertThat(Thread.interrupted()).as("it stays the caller's").isTrue();
      assertThat(first).isNotNull();
      assertThat(snapshot.invoke(null)).as("made once").isSameAs(first);
    }
  }
}
