package dev.writ.cli.rules;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** A reader who meets a type's name need not ask which of several it is. */
class OneNameIsOneTypeTest {
  @Test
  void noTwoTopLevelTypesShareAName() {
    TreeMap<String, TreeSet<String>> byName = new TreeMap<>();
    Project.classes().stream()
        .filter(JavaClass::isTopLevelClass)
        .filter(type -> !type.getSimpleName().equals("package-info"))
        .forEach(type ->
            byName.computeIfAbsent(type.getSimpleName(), _ -> new TreeSet<>()).add(type.getName()));
    assertThat(byName).hasSizeGreaterThan(800);
    byName.values().removeIf(types -> types.size() == 1);
    assertThat(byName).isEmpty();
  }
}
