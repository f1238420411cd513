package dev.writ.testkit;

import dev.writ.embed.Agent;
import dev.writ.embed.AgentRun;
import dev.writ.embed.Approvals;
import dev.writ.embed.Writ;
import dev.writ.embed.WritBuilder;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Gives each test an installation of its own, in memory, with a settable clock and scripted tools:
 *
 * <pre>{@code
 * private final ScriptedTool mail = ScriptedTool.named("mail");
 *
 * @RegisterExtension
 * private final WritExtension writ = WritExtension.with(mail);
 * }</pre>
 *
 * <p>Its agent is {@code researcher}, its approver {@code approver}, its tenant {@code local}. The
 * starter policy allows the scripted tools; {@link #policy} sets another one.
 */
public final class WritExtension implements BeforeEachCallback, AfterEachCallback {
  /** The time of the clock when a test begins. */
  public static final Instant START = Instant.parse("2026-01-01T12:00:00Z");

  private final List<ScriptedTool> tools;
  private final List<Consumer<WritBuilder>> more = new ArrayList<>();
  private SettableClock clock = new SettableClock(START);
  private Optional<Writ> writ = Optional.empty();

  private WritExtension(List<ScriptedTool> tools) {
    this.tools = List.copyOf(tools);
  }

  /** With these tools beside the built-in ones. */
  public static WritExtension with(ScriptedTool... tools) {
    return new WritExtension(List.of(tools));
  }

  /** Under this policy instead of the starter's; see {@link WritBuilder#policy}. */
  public WritExtension policy(String yaml) {
    return configured(builder -> builder.policy(yaml));
  }

  /** With any other settings of the builder. */
  public WritExtension configured(Consumer<WritBuilder> configuration) {
    more.add(configuration);
    return this;
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    clock = new SettableClock(START);
    WritBuilder builder = Writ.inMemory().withoutProcesses().clock(clock, clock.elapsed());
    tools.forEach(tool -> builder.tool(tool.tool()));
    more.forEach(configuration -> configuration.accept(builder));
    writ = Optional.of(builder.open());
  }

  @Override
  public void afterEach(ExtensionContext context) {
    writ.ifPresent(Writ::close);
    writ = Optional.empty();
  }

  /**
   * This test's installation.
   *
   * @throws IllegalStateException outside of a test
   */
  public Writ writ() {
    return writ.orElseThrow(() -> new IllegalStateException("no test is running"));
  }

  /** This test's clock. */
  public SettableClock clock() {
    return clock;
  }

  /** The agent {@code researcher}. */
  public Agent agent() {
    return writ().agent("researcher");
  }

  /** The run {@code main} of the agent. */
  public AgentRun run() {
    return agent().run("main");
  }

  /** The approver {@code approver}. */
  public Approvals approver() {
    return writ().approver("approver");
  }
}
