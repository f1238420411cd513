package dev.writ.tools.language;

import dev.writ.canonicalize.WritException;
import dev.writ.tools.error.ToolsError;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/**
 * The release's Java worker as classes, compiled once in this JVM by the JDK that runs it: else
 * every call would compile it before its tool.
 */
final class CompiledWorker {
  private CompiledWorker() {}

  /**
   * The files of the classes.
   *
   * @param name of the class
   * @param source its text
   * @throws WritException {@code TOL-214} where there is no JDK
   */
  static SortedMap<String, byte[]> of(String name, byte[] source) {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    if (compiler == null) {
      throw new WritException(ToolsError.RUNTIME_MISSING, "this Java has no compiler");
    }
    TreeMap<String, ByteArrayOutputStream> classes = new TreeMap<>();
    try (JavaFileManager files =
        new ForwardingJavaFileManager<JavaFileManager>(
            compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
          @Override
          public JavaFileObject getJavaFileForOutput(
              Location location, String binaryName, JavaFileObject.Kind kind, FileObject sibling) {
            return new SimpleJavaFileObject(URI.create("memory:///" + "class"), kind) {
              @Override
              public OutputStream openOutputStream() {
                ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                classes.put(binaryName + ".class", bytes);
                return bytes;
              }
            };
          }
        }) {
      JavaFileObject text =
          new SimpleJavaFileObject(
              URI.create("memory:///" + name + ".java"), JavaFileObject.Kind.SOURCE) {
            @Override
            public CharSequence getCharContent(boolean ignoreEncodingErrors) {
              return new String(source, StandardCharsets.UTF_8);
            }
          };
      List<String> options = List.of("-proc:none", "-nowarn", "-g:none");
      if (!compiler.getTask(null, files, null, options, null, List.of(text)).call()) {
        throw new IllegalStateException("the release's own worker does not compile");
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    TreeMap<String, byte[]> made = new TreeMap<>();
    classes.forEach((file, bytes) -> made.put(file, bytes.toByteArray()));
    return Collections.unmodifiableSortedMap(made);
  }
}
