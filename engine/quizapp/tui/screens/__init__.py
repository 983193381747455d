"""The screens, one a module, imported when first shown."""
