/** Tools of Writ for Spring AI. */
package dev.writ.adapters.springai;
