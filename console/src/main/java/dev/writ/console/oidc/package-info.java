/** Signing in to the console by a provider of OpenID Connect (spec/console.md). */
package dev.writ.console.oidc;
