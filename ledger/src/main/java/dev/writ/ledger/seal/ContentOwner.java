package dev.writ.ledger.seal;

import java.util.Comparator;

/**
 * Whose key a content is sealed under (spec/retention.md, Sealed contents): a subject of a tenant,
 * or one of the tenant's runs.
 *
 * @param tenant whose wrapping key protects the owner's
 * @param kind {@link #SUBJECT} or {@link #RUN}
 * @param name of the subject or run
 */
public record ContentOwner(String tenant, String kind, String name)
    implements Comparable<ContentOwner> {
  public static final String SUBJECT = "subject";
  public static final String RUN = "run";

  private static final Comparator<ContentOwner> ORDER =
      Comparator.comparing(ContentOwner::tenant)
          .thenComparing(ContentOwner::kind)
          .thenComparing(ContentOwner::name);

  public static ContentOwner subject(String tenant, String subject) {
    return new ContentOwner(tenant, SUBJECT, subject);
  }

  public static ContentOwner run(String tenant, String run) {
    return new ContentOwner(tenant, RUN, run);
  }

  @Override
  public int compareTo(ContentOwner other) {
    return ORDER.compare(this, other);
  }

  @Override
  public String toString() {
    return kind + " " + name + " of " + tenant;
  }
}
