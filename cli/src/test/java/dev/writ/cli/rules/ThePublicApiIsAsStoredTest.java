package dev.writ.cli.rules;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The public API (spec/embed.md), with every type that its signatures mention, against {@code
 * config/public-api.txt}. Whoever changes it on purpose writes the file by {@code
 * -Dwrit.update=true}.
 */
class ThePublicApiIsAsStoredTest {
  private static final List<String> PACKAGES =
      List.of(
          "dev.writ.adapters",
          "dev.writ.client",
          "dev.writ.embed",
          "dev.writ.guardian.document",
          "dev.writ.testkit");

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

  private static Stream<JavaCodeUnit> operations(JavaClass type) {
    return Stream.concat(type.getMethods().stream(), type.getConstructors().stream())
        .filter(operation -> visible(operation.getModifiers()));
  }

  private static Stream<JavaField> fields(JavaClass type) {
    return type.getFields().stream().filter(field -> visible(field.getModifiers()));
  }

  /** The types of ours that a program meets where it uses this one. */
  private static Stream<JavaClass> mentioned(JavaClass type) {
    Stream<JavaType> used =
        Stream.of(
                operations(type).flatMap(o -> o.getParameterTypes().stream()),
                operations(type).map(JavaCodeUnit::getReturnType),
                fields(type).map(JavaField::getType),
                type.getInterfaces().stream(),
                type.getSuperclass().stream(),
                type.getSubclasses().stream().filter(c -> isNestedIn(c, type)))
            .flatMap(s -> s);
    return used.flatMap(t -> t.getAllInvolvedRawTypes().stream())
        .map(JavaClass::getBaseComponentType)
        .filter(c -> c.getPackageName().startsWith("dev.writ."));
  }

  /** The cases of a sealed type. */
  private static boolean isNestedIn(JavaClass nested, JavaClass type) {
    return nested.getEnclosingClass().filter(type::equals).isPresent();
  }

  /** The types of the packages, and all that their signatures mention, however far. */
  private static TreeMap<String, JavaClass> types() {
    TreeMap<String, JavaClass> types = new TreeMap<>();
    ArrayDeque<JavaClass> open =
        new ArrayDeque<>(
            Project.classes().stream()
                .filter(type -> PACKAGES.contains(type.getPackageName()))
                .toList());
    while (!open.isEmpty()) {
      JavaClass type = open.pop();
      if (visible(type) && types.putIfAbsent(type.getName(), type) == null) {
        mentioned(type).forEach(open::push);
      }
    }
    return types;
  }

  private static TreeSet<String> signatures() {
    TreeSet<String> lines = new TreeSet<>();
    types()
        .forEach((name, type) -> {
          lines.add(name);
          operations(type)
              .forEach(o ->
                  lines.add(
                      name
                          + (o.isConstructor() ? "" : "." + o.getName())
                          + "("
                          + names(o.getRawParameterTypes())
                          + ")"
                          + (o.isConstructor() ? "" : " " + o.getReturnType().getName())));
          fields(type)
              .forEach(f -> lines.add(name + "." + f.getName() + " " + f.getRawType().getName()));
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
