package dev.writ.executor.driver;

import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.Scope;

/**
 * What is known of a call before it is dispatched; {@link Invocation} has the same and more.
 *
 * @param resources the declared ceiling
 * @param sandbox the sandbox profile
 * @param approved whether the decision saw a signed approval for this very request
 */
public record ExpectedCall(Scope scope, Resources resources, String sandbox, boolean approved) {}
