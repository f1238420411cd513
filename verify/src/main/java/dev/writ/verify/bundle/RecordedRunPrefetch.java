package dev.writ.verify.bundle;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.driver.Driver;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import java.util.Optional;

/** A bundle whose documents are at hand when the walk over its events reaches them. */
final class RecordedRunPrefetch implements RecordedRun {
  private final Bundle bundle;
  private Optional<EventPrefetch> walking = Optional.empty();

  RecordedRunPrefetch(Bundle bundle) {
    this.bundle = bundle;
  }

  @Override
  public void events(Visitor visitor) {
    try (EventPrefetch ahead = EventPrefetch.withoutReferences(bundle)) {
      walking = Optional.of(ahead);
      ahead.forEach((journal, index, event, _) -> visitor.event(journal, index, event));
    } finally {
      walking = Optional.empty();
    }
  }

  @Override
  public void eventsAlone(Visitor visitor) {
    bundle.events(visitor);
  }

  @Override
  public Optional<Envelope> document(Digest id) {
    return walking.isPresent() ? walking.get().document(id) : bundle.document(id);
  }

  @Override
  public BundleManifest manifest() {
    return bundle.manifest();
  }

  @Override
  public Optional<byte[]> blob(Digest digest) {
    return bundle.blob(digest);
  }

  @Override
  public Optional<ToolManifest> tool(ToolRef tool) {
    return bundle.tool(tool);
  }

  @Override
  public Driver.PackageContent files(ToolManifest tool) {
    return bundle.files(tool);
  }
}
