package dev.writ.embed;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/**
 * A server of applications loads a program anew without starting its JVM anew, and may run two that
 * embed Writ. The JVM lets one class loader at a time load a native library's file.
 */
class EachClassLoaderHasItsOwnTest {
  private static URL url(String entry) {
    try {
      return Path.of(entry).toUri().toURL();
    } catch (MalformedURLException e) {
      throw new AssertionError(e);
    }
  }

  private static URLClassLoader loader() {
    URL[] path =
        Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
            .map(EachClassLoaderHasItsOwnTest::url)
            .toArray(URL[]::new);
    return new URLClassLoader(path, ClassLoader.getPlatformClassLoader());
  }

  /** Opens an installation by classes of that loader, and closes it. */
  private static Class<?> used(ClassLoader loader) throws Exception {
    Class<?> type = loader.loadClass(Writ.class.getName());
    Object builder = type.getMethod("inMemory").invoke(null);
    Object writ = builder.getClass().getMethod("open").invoke(builder);
    try {
      assertThat((List<?>) type.getMethod("tools").invoke(writ)).isNotEmpty();
    } finally {
      type.getMethod("close").invoke(writ);
    }
    return type;
  }

  /** Uses one in a thread that ends, since libraries leave values of their own in threads. */
  private static PhantomReference<ClassLoader> left(ReferenceQueue<ClassLoader> freed)
      throws Exception {
    try (URLClassLoader loader = loader();
        ExecutorService thread = Executors.newSingleThreadExecutor()) {
      Callable<Class<?>> use = () -> used(loader);
      assertThat(thread.submit(use).get()).isNotSameAs(Writ.class);
      return new PhantomReference<>(loader, freed);
    }
  }

  @Test
  void oneThatIsNotUsedAnyMoreIsFreed() throws Exception {
    ReferenceQueue<ClassLoader> freed = new ReferenceQueue<>();
    // The last one may be in a cache of the JVM's.
    List<PhantomReference<ClassLoader>> all = List.of(left(freed), left(freed), left(freed));
    Reference<?> first = null;
    for (int i = 0; i < 60 && first == null; i++) {
      System.gc();
      first = freed.remove(1_000);
    }
    assertThat(first).isIn(all);
  }

  @Test
  void writIsUsedInOneAfterTheOtherAndInTwoAtOnce() throws Exception {
    try (Writ own = Writ.inMemory().open();
        URLClassLoader one = loader();
        URLClassLoader two = loader();
        ExecutorService both = Executors.newFixedThreadPool(2)) {
      assertThat(own.tools()).isNotEmpty();
      List<Callable<Class<?>>> uses = List.of(() -> used(one), () -> used(two));
      for (Future<Class<?>> use : both.invokeAll(uses)) {
        assertThat(use.get()).isNotSameAs(Writ.class);
      }
    }
    try (URLClassLoader later = loader()) {
      assertThat(used(later)).isNotSameAs(Writ.class);
    }
  }
}
