package dev.writ.cli.mcp;

import dev.writ.tools.registry.BrokenPackage;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.function.Consumer;

/** Tells a person of each package that cannot be read, and of each reason, once. */
public final class ToldOnce implements Consumer<BrokenPackage> {
  private final Consumer<BrokenPackage> person;
  private final ConcurrentSkipListSet<String> told = new ConcurrentSkipListSet<>();

  public ToldOnce(Consumer<BrokenPackage> person) {
    this.person = person;
  }

  @Override
  public void accept(BrokenPackage broken) {
    if (told.add(broken.name() + " " + broken.version() + " " + broken.why().getMessage())) {
      person.accept(broken);
    }
  }
}
