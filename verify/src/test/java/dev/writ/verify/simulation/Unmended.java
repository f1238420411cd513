package dev.writ.verify.simulation;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * Loads Writ with one class as it was before a fault was mended: its source of today with passages
 * put back, compiled in memory. All of Writ is loaded anew, tests and simulation with it; libraries
 * are shared.
 */
final class Unmended extends ClassLoader {
  /** A passage of today's source, and what stood there. */
  record Passage(String mended, String before) {}

  private static final String OURS = "dev.writ.";

  private static final JavaCompiler COMPILER = ToolProvider.getSystemJavaCompiler();

  /** For all of them: it lists what is in the archives of the class path once. */
  private static final StandardJavaFileManager FILES =
      COMPILER.getStandardFileManager(null, null, null);

  private final TreeMap<String, ByteArrayOutputStream> classes = new TreeMap<>();

  /**
   * @param source of the class, below the project's root
   * @throws IllegalStateException where a passage is not there exactly once, or what comes out does
   *     not compile
   */
  Unmended(Path source, List<Passage> passages) {
    super(Unmended.class.getClassLoader());
    try {
      compile(source, putBack(Files.readString(source), passages));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String putBack(String source, List<Passage> passages) {
    String text = source;
    for (Passage passage : passages) {
      int at = text.indexOf(passage.mended());
      if (at < 0 || text.indexOf(passage.mended(), at + 1) >= 0) {
        throw new IllegalStateException("not there exactly once: " + passage.mended());
      }
      text = text.replace(passage.mended(), passage.before());
    }
    return text;
  }

  private void compile(Path source, String text) {
    StringWriter errors = new StringWriter();
    boolean done =
        COMPILER
            .getTask(
                errors,
                new InMemory(FILES),
                null,
                List.of("-proc:none", "-cp", System.getProperty("java.class.path")),
                null,
                List.of(new Source(source, text)))
            .call();
    if (!done) {
      throw new IllegalStateException(source + " as it was does not compile: " + errors);
    }
  }

  private static final class Source extends SimpleJavaFileObject {
    private final String text;

    Source(Path path, String text) {
      super(URI.create("memory:///" + path.getFileName()), Kind.SOURCE);
      this.text = text;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
      return text;
    }
  }

  private final class InMemory extends ForwardingJavaFileManager<JavaFileManager> {
    InMemory(JavaFileManager manager) {
      super(manager);
    }

    @Override
    public JavaFileObject getJavaFileForOutput(
        Location location, String name, JavaFileObject.Kind kind, FileObject sibling) {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      classes.put(name, bytes);
      return new SimpleJavaFileObject(URI.create("memory:///" + name), kind) {
        @Override
        public OutputStream openOutputStream() {
          return bytes;
        }
      };
    }
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!name.startsWith(OURS)) {
      return super.loadClass(name, resolve);
    }
    synchronized (getClassLoadingLock(name)) {
      Class<?> loaded = findLoadedClass(name);
      return loaded == null ? findClass(name) : loaded;
    }
  }

  @Override
  protected Class<?> findClass(String name) throws ClassNotFoundException {
    byte[] bytes = classes.containsKey(name) ? classes.get(name).toByteArray() : asItIs(name);
    return defineClass(name, bytes, 0, bytes.length);
  }

  private byte[] asItIs(String name) throws ClassNotFoundException {
    try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
      if (in == null) {
        throw new ClassNotFoundException(name);
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw new ClassNotFoundException(name, e);
    }
  }
}
