package dev.writ.tools.author;

import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.ImportTree;
import com.sun.source.tree.LineMap;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreeScanner;
import com.sun.source.util.Trees;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.tools.error.ToolsError;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SortedMap;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/**
 * Java, read by the JDK's own parser; nothing is resolved, processed or run. Names of {@code
 * java.lang}, which need no import, are given in full.
 */
public final class JavaScanner implements Scanner {
  private static final List<String> IMPLICIT =
      List.of("Class", "ClassLoader", "Module", "Process", "ProcessBuilder", "Runtime", "System");

  @Override
  public List<Reference> scan(SortedMap<String, byte[]> files) {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    DiagnosticCollector<JavaFileObject> said = new DiagnosticCollector<>();
    List<Source> sources = new ArrayList<>();
    ScanAnswer.question(files)
        .members()
        .forEach((path, text) -> sources.add(new Source(path, ((JsonValue.Str) text).value())));
    JavacTask task =
        (JavacTask)
            compiler.getTask(null, null, said, List.of("-proc:none"), null, List.copyOf(sources));
    try {
      List<Reference> references = new ArrayList<>();
      SourcePositions positions = Trees.instance(task).getSourcePositions();
      for (CompilationUnitTree unit : task.parse()) {
        new Finder(unit, positions, references).scan(unit, null);
      }
      for (Diagnostic<? extends JavaFileObject> one : said.getDiagnostics()) {
        if (one.getKind() == Diagnostic.Kind.ERROR) {
          throw new WritException(
              ToolsError.SOURCE_UNREADABLE,
              name(one.getSource())
                  + " line "
                  + one.getLineNumber()
                  + ": "
                  + one.getMessage(Locale.ROOT));
        }
      }
      return references;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String name(JavaFileObject source) {
    return source.getName().substring(1); // javac hands them back wrapped
  }

  private static final class Source extends SimpleJavaFileObject {
    private final String text;

    Source(String path, String text) {
      super(URI.create("string:///" + path), Kind.SOURCE);
      this.text = text;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
      return text;
    }
  }

  private static final class Finder extends TreeScanner<Void, Void> {
    private final CompilationUnitTree unit;
    private final SourcePositions positions;
    private final List<Reference> references;

    Finder(CompilationUnitTree unit, SourcePositions positions, List<Reference> references) {
      this.unit = unit;
      this.positions = positions;
      this.references = references;
    }

    @Override
    public Void visitImport(ImportTree node, Void nothing) {
      refer(node, node.getQualifiedIdentifier().toString());
      return null;
    }

    @Override
    public Void visitMemberSelect(MemberSelectTree node, Void nothing) {
      String name = node.toString();
      if (name.matches("[\\p{Alpha}_$][\\p{Alnum}_$.]*")) {
        refer(node, inFull(name));
        return null;
      }
      return super.visitMemberSelect(node, nothing);
    }

    @Override
    public Void visitIdentifier(IdentifierTree node, Void nothing) {
      String name = node.getName().toString();
      if (IMPLICIT.contains(name)) {
        refer(node, inFull(name));
      }
      return null;
    }

    private static String inFull(String name) {
      String first = name.contains(".") ? name.substring(0, name.indexOf('.')) : name;
      return IMPLICIT.contains(first) ? "java.lang." + name : name;
    }

    private void refer(Tree node, String name) {
      LineMap lines = unit.getLineMap();
      long at = positions.getStartPosition(unit, node);
      references.add(
          new Reference(
              name(unit.getSourceFile()),
              lines.getLineNumber(at),
              lines.getColumnNumber(at),
              name,
              false));
    }
  }
}
