package dev.writ.conform.mutant;

import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.Trees;
import dev.writ.canonicalize.crypto.RememberingEngine;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.conform.adapter.Adapter;
import dev.writ.conform.adapter.AdapterAnswer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.lang.reflect.Method;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/**
 * The first verifier: its sources with all mutants in them, compiled in memory, and loaded with all
 * other classes of ours by a loader of its own.
 */
final class MutatedJava implements MutatedCode {
  private static final Path TOP = Golden.ROOT.resolveSibling(".");

  private final List<JavaMutator.Change> mutants = new ArrayList<>();
  private final Object adapter;
  private final Method answer;

  /** A source or a class that is in no file. */
  private static final class InMemory extends SimpleJavaFileObject {
    private final String source;
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    InMemory(String name, Kind kind, String source) {
      super(URI.create("mem:///" + name + kind.extension), kind);
      this.source = source;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
      return source;
    }

    @Override
    public OutputStream openOutputStream() {
      return bytes;
    }
  }

  /** Has classes of ours for itself: copies of those with mutants, the others as they are. */
  private static final class Own extends ClassLoader {
    private final Map<String, InMemory> copies;

    Own(Map<String, InMemory> copies) {
      super(MutatedJava.class.getClassLoader());
      this.copies = copies;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (!name.startsWith("dev.writ.") || name.equals(MutantOn.class.getName())) {
        return super.loadClass(name, resolve);
      }
      synchronized (getClassLoadingLock(name)) {
        Class<?> loaded = findLoadedClass(name);
        return loaded == null ? define(name) : loaded;
      }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
      InMemory copy = copies.get(name);
      byte[] bytes = copy == null ? null : copy.bytes.toByteArray();
      if (bytes == null) {
        try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
          if (in == null) {
            throw new ClassNotFoundException(name);
          }
          bytes = in.readAllBytes();
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }
      return defineClass(name, bytes, 0, bytes.length);
    }
  }

  /**
   * @param areas methods, by the path of their source in the repository
   */
  MutatedJava(SortedMap<String, List<String>> areas) {
    try {
      Map<String, InMemory> classes = compile(areas);
      Class<?> ours = Class.forName("dev.writ.conform.Ours", true, new Own(classes));
      Class.forName(RememberingEngine.class.getName(), true, ours.getClassLoader())
          .getMethod("use")
          .invoke(null);
      Class<?> type = Class.forName(Adapter.class.getName(), true, ours.getClassLoader());
      this.adapter =
          type.getConstructor(SortedMap.class).newInstance(ours.getField("OPERATIONS").get(null));
      this.answer = type.getMethod("answer", byte[].class);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  private Map<String, InMemory> compile(SortedMap<String, List<String>> areas) throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    List<JavaFileObject> sources = new ArrayList<>();
    for (String file : areas.keySet()) {
      sources.add(
          new InMemory(
              file.replace(".java", ""),
              JavaFileObject.Kind.SOURCE,
              Files.readString(TOP.resolve(file))));
    }
    JavacTask task = (JavacTask) compiler.getTask(null, null, null, null, null, sources);
    List<JavaFileObject> copies = new ArrayList<>();
    for (CompilationUnitTree unit : task.parse()) {
      String file = unit.getSourceFile().toUri().getPath().substring(1);
      JavaMutator mutator =
          new JavaMutator(
              Path.of(file).getFileName().toString(),
              unit.getSourceFile().getCharContent(true).toString(),
              unit,
              Trees.instance(task).getSourcePositions(),
              areas.get(file),
              mutants);
      copies.add(
          new InMemory(file.replace(".java", ""), JavaFileObject.Kind.SOURCE, mutator.copy()));
    }
    return compile(compiler, copies);
  }

  private static Map<String, InMemory> compile(
      JavaCompiler compiler, List<JavaFileObject> sources) {
    Map<String, InMemory> classes = new TreeMap<>();
    DiagnosticCollector<JavaFileObject> said = new DiagnosticCollector<>();
    JavaFileManager files =
        new ForwardingJavaFileManager<JavaFileManager>(
            compiler.getStandardFileManager(said, null, null)) {
          @Override
          public JavaFileObject getJavaFileForOutput(
              Location location, String name, JavaFileObject.Kind kind, FileObject sibling) {
            InMemory made = new InMemory(name.replace('.', '/'), kind, "");
            classes.put(name, made);
            return made;
          }
        };
    String path =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    List<String> options = List.of("-proc:none", "-nowarn", "-classpath", path);
    if (!compiler.getTask(Writer.nullWriter(), files, said, options, null, sources).call()) {
      throw new IllegalStateException(
          said.getDiagnostics().stream()
              .filter(d -> d.getKind() == Diagnostic.Kind.ERROR)
              .map(d -> d + "\n" + line(d))
              .reduce("copies that do not compile:", (a, b) -> a + "\n" + b));
    }
    return classes;
  }

  private static String line(Diagnostic<? extends JavaFileObject> error) {
    return ((InMemory) error.getSource())
        .source
        .lines()
        .skip(error.getLineNumber() - 1)
        .findFirst()
        .orElse("");
  }

  @Override
  public List<JavaMutator.Change> mutants() {
    return List.copyOf(mutants);
  }

  @Override
  public void turn(int id) {
    MutantOn.turn(id);
  }

  @Override
  public BitSet reached() {
    return MutantOn.reached();
  }

  @Override
  public AdapterAnswer ask(String op, JsonValue.Obj input) {
    var question = JsonValue.object().put("id", "1").put("op", op).put("input", input).build();
    try {
      byte[] line = (byte[]) answer.invoke(adapter, (Object) Jcs.write(question));
      return AdapterAnswer.read(Jcs.parse(line, Adapter.LIMITS), "1");
    } catch (ReflectiveOperationException e) {
      throw new Broken("the adapter failed: " + e.getCause());
    }
  }

  @Override
  public String name() {
    return "Java";
  }
}
