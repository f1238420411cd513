package dev.writ.cli.rules;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * The public API (spec/embed.md) against {@code config/public-api.txt}: who changes it sees so, and
 * says so by {@code -Dwrit.update=true}.
 */
class ThePublicApiIsAsStoredTest {
  private static final List<String> PACKAGES =
      List.of(
          "dev.writ.client", "dev.writ.embed", "dev.writ.guardian.document", "dev.writ.testkit");

  private static boolean visible(Set<JavaModifier> modifiers) {
    return (modifiers.contains(JavaModifier.PUBLIC) || modifiers.contains(JavaModifier.PROTECTED))
        && !modifiers.contains(JavaModifier.SYNTHETIC)
        && !modifiers.contains(JavaModifier.BRIDGE);
  }

  private static boolean visible(JavaClass type) {
    return visible(type.getModifiers())
        && type.getEnclosingClass().map(ThePublicApiIsAsStoredTest::visible).orElse(true);
  }

  private static String names(List<? extends JavaType> types) {
    return types.stream().map(JavaType::getName).collect(Collectors.joining(", "));
  }

  private static TreeSet<String> signatures() {
    TreeSet<String> lines = new TreeSet<>();
    Project.classes().stream()
        .filter(type -> PACKAGES.contains(type.getPackageName()) && visible(type))
        .forEach(type -> {
          String name = type.getName();
          lines.add(name);
          type.getMethods().stream()
              .filter(method -> visible(method.getModifiers()))
              .forEach(method ->
                  lines.add(
                      name
                          + "."
                          + method.getName()
                          + "("
                          + names(method.getRawParameterTypes())
                          + ") "
                          + method.getReturnType().getName()));
          type.getConstructors().stream()
              .filter(constructor -> visible(constructor.getModifiers()))
              .forEach(constructor ->
                  lines.add(name + "(" + names(constructor.getRawParameterTypes()) + ")"));
          type.getFields().stream()
              .filter(field -> visible(field.getModifiers()))
              .forEach(field ->
                  lines.add(name + "." + field.getName() + " " + field.getRawType().getName()));
        });
    return lines;
  }

  @Test
  void nothingIsAddedTakenAwayOrChangedUnseen() throws IOException {
    Path stored = Project.root().resolve("config/public-api.txt");
    TreeSet<String> now = signatures();
    assertThat(now).hasSizeGreaterThan(300);
    if (Boolean.getBoolean("writ.update")) {
      Files.write(stored, now);
    }
    assertThat(now).containsExactlyElementsOf(Files.readAllLines(stored));
  }
}
