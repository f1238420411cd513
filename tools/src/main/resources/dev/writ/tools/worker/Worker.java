import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.io.StringWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import java.util.stream.Stream;
import javax.tools.ToolProvider;

/**
 * Runs one operation of a Java tool: the worker side of the protocol in spec/tool-package.md.
 * Arguments: the entry file, the folder of the package. What the tool prints goes to standard
 * error.
 */
public final class Worker {
  private static final DataOutputStream OUT =
      new DataOutputStream(new FileOutputStream(FileDescriptor.out));

  private Worker() {}

  public static void main(String[] args) throws IOException {
    DataInputStream in = new DataInputStream(new FileInputStream(FileDescriptor.in));
    System.setIn(InputStream.nullInputStream());
    System.setOut(System.err);
    Class<?> tool = null;
    try {
      tool = load(args[0], Path.of(args[1]));
    } catch (Exception | LinkageError e) {
      fail("DependencyLoadFailure", e);
    }
    write(Map.of("protocol", 1, "kind", "ready"));
    byte[] body = in.readNBytes(in.readInt());
    @SuppressWarnings("unchecked")
    Map<String, Object> call =
        (Map<String, Object>) new Json(new String(body, StandardCharsets.UTF_8)).read();
    try {
      Method operation = tool.getMethod(name((String) call.get("operation")), Map.class, Map.class);
      Object output = operation.invoke(null, call.get("input"), call.get("context"));
      Map<String, Object> frame = new LinkedHashMap<>();
      frame.put("protocol", 1);
      frame.put("kind", "result");
      if (call.get("media_type") instanceof String mediaType) {
        frame.put("media_type", mediaType);
        frame.put("base64", Base64.getEncoder().encodeToString(bytes(output)));
      } else {
        frame.put("output", output);
      }
      write(frame);
    } catch (InvocationTargetException e) {
      fail("Failed", e.getCause());
    } catch (Exception | LinkageError e) {
      fail("Failed", e);
    }
    System.err.flush();
    Runtime.getRuntime().halt(0);
  }

  /** The output where the operation's media type is not JSON: bytes, or text in UTF-8. */
  private static byte[] bytes(Object output) throws IOException {
    if (output instanceof byte[] bytes) {
      return bytes;
    }
    if (output instanceof String text) {
      ByteBuffer encoded = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
      byte[] bytes = new byte[encoded.remaining()];
      encoded.get(bytes);
      return bytes;
    }
    throw new IOException("the output is neither bytes nor text");
  }

  /** {@code word-count} is the method {@code wordCount}. */
  private static String name(String operation) {
    StringBuilder name = new StringBuilder();
    for (String part : operation.split("[-_]")) {
      name.append(
          name.isEmpty() ? part : Character.toUpperCase(part.charAt(0)) + part.substring(1));
    }
    return name.toString();
  }

  /** Compiles the sources beside the entry into /tmp; jars below vendor/ are on the class path. */
  private static Class<?> load(String entry, Path folder) throws Exception {
    Path classes = Files.createTempDirectory("classes");
    Path sources = folder.resolve(entry).getParent();
    List<String> argv =
        new ArrayList<>(
            List.of(
                "-proc:none",
                "-nowarn",
                "-implicit:none",
                "-encoding",
                "UTF-8",
                "-sourcepath",
                sources.toString(),
                "-d",
                classes.toString()));
    List<URL> path = new ArrayList<>(List.of(classes.toUri().toURL()));
    StringWriter jars = new StringWriter();
    for (Path jar : files(folder.resolve("vendor"), ".jar")) {
      requireNoClassPath(jar);
      path.add(jar.toUri().toURL());
      jars.append(jar.toString()).append(':');
    }
    argv.addAll(List.of("-classpath", jars + classes.toString()));
    files(sources, ".java").forEach(file -> argv.add(file.toString()));
    if (!Files.exists(sources.resolve("writ/Helpers.java"))) {
      argv.add(System.getProperty("java.class.path") + "/Helpers.java"); // the platform's own
    }
    int status =
        ToolProvider.getSystemJavaCompiler()
            .run(null, System.err, System.err, argv.toArray(String[]::new));
    if (status != 0) {
      throw new IOException("the sources do not compile");
    }
    String file = Path.of(entry).getFileName().toString();
    // The parent loader is the platform's: the tool must not see the class path of this JVM.
    ClassLoader loader =
        new URLClassLoader(path.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
    Thread.currentThread().setContextClassLoader(loader);
    return Class.forName(file.substring(0, file.length() - ".java".length()), true, loader);
  }

  private static void requireNoClassPath(Path jar) throws IOException {
    try (JarFile file = new JarFile(jar.toFile())) {
      Manifest manifest = file.getManifest();
      if (manifest != null
          && manifest.getMainAttributes().getValue(Attributes.Name.CLASS_PATH) != null) {
        throw new IOException(jar + " leads to further places by its Class-Path");
      }
    }
  }

  private static List<Path> files(Path folder, String ending) throws IOException {
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> all = Files.walk(folder)) {
      return all.filter(p -> p.toString().endsWith(ending)).sorted().toList();
    }
  }

  private static void fail(String incident, Throwable e) throws IOException {
    e.printStackTrace(new PrintStream(System.err, true));
    String message = String.valueOf(e);
    write(
        Map.of(
            "protocol",
            1,
            "kind",
            "incident",
            "incident",
            incident,
            "message",
            message.substring(0, Math.min(500, message.length()))));
    System.err.flush();
    Runtime.getRuntime().halt(0);
  }

  private static void write(Map<String, Object> frame) throws IOException {
    StringBuilder json = new StringBuilder();
    Json.write(frame, json);
    // A separate encoder refuses unpaired surrogates; getBytes would write question marks.
    ByteBuffer body = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(json));
    OUT.writeInt(body.remaining());
    OUT.write(body.array(), 0, body.remaining());
    OUT.flush();
  }

  /** The least of JSON that a worker needs: it depends on nothing beside the JDK. */
  private static final class Json {
    private final String text;
    private int at;

    Json(String text) {
      this.text = text;
    }

    Object read() {
      char c = peek();
      return switch (c) {
        case '{' -> object();
        case '[' -> array();
        case '"' -> string();
        case 't' -> word("true", Boolean.TRUE);
        case 'f' -> word("false", Boolean.FALSE);
        case 'n' -> word("null", null);
        default -> number();
      };
    }

    private char peek() {
      return text.charAt(at);
    }

    private Object word(String word, Object value) {
      at += word.length();
      return value;
    }

    private Map<String, Object> object() {
      Map<String, Object> members = new LinkedHashMap<>();
      at++;
      while (peek() != '}') {
        String key = string();
        at++; // the colon
        members.put(key, read());
        if (peek() == ',') {
          at++;
        }
      }
      at++;
      return members;
    }

    private List<Object> array() {
      List<Object> items = new ArrayList<>();
      at++;
      while (peek() != ']') {
        items.add(read());
        if (peek() == ',') {
          at++;
        }
      }
      at++;
      return items;
    }

    private String string() {
      StringBuilder out = new StringBuilder();
      for (at++; peek() != '"'; at++) {
        if (peek() != '\\') {
          out.append(peek());
          continue;
        }
        at++;
        switch (peek()) {
          case 'b' -> out.append('\b');
          case 'f' -> out.append('\f');
          case 'n' -> out.append('\n');
          case 'r' -> out.append('\r');
          case 't' -> out.append('\t');
          case 'u' -> {
            out.append((char) Integer.parseInt(text, at + 1, at + 5, 16));
            at += 4;
          }
          default -> out.append(peek());
        }
      }
      at++;
      return out.toString();
    }

    /** Integers as Long, all else as Double. */
    private Object number() {
      int from = at;
      while (at < text.length() && "+-.eE0123456789".indexOf(peek()) >= 0) {
        at++;
      }
      String number = text.substring(from, at);
      return number.matches("-?[0-9]{1,18}")
          ? (Object) Long.valueOf(number)
          : Double.valueOf(number);
    }

    static void write(Object value, StringBuilder out) {
      switch (value) {
        case null -> out.append("null");
        case Map<?, ?> map -> {
          out.append('{');
          String between = "";
          for (Map.Entry<?, ?> member : map.entrySet()) {
            out.append(between);
            write(String.valueOf(member.getKey()), out);
            out.append(':');
            write(member.getValue(), out);
            between = ",";
          }
          out.append('}');
        }
        case Iterable<?> items -> {
          out.append('[');
          String between = "";
          for (Object item : items) {
            out.append(between);
            write(item, out);
            between = ",";
          }
          out.append(']');
        }
        case Boolean truth -> out.append(truth);
        case Double number when !Double.isFinite(number) ->
            throw new IllegalArgumentException("JSON has no " + number);
        case Number number -> out.append(number);
        default -> quote(String.valueOf(value), out);
      }
    }

    private static void quote(String text, StringBuilder out) {
      out.append('"');
      for (char c : text.toCharArray()) {
        if (c == '"' || c == '\\') {
          out.append('\\').append(c);
        } else if (c < 0x20) {
          out.append(String.format("\\u%04x", (int) c));
        } else {
          out.append(c);
        }
      }
      out.append('"');
    }
  }
}
