/** Which keys may sign what, and when (spec/keys.md). */
package dev.writ.canonicalize.trust;
