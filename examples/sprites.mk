# Makes sprites of all clips in a folder, for your own Makefile: 128×128, standing
# on the ground, and of a GIF without idle frames at both ends. It makes only sprites
# that are missing or older than their clip:
#
#	make -f examples/sprites.mk CLIPS=clips SPRITES=sprites
CLIPS    ?= clips
SPRITES  ?= sprites
BGREMOVE ?= bgremove

extensions := gif mp4 mov webm
clips      := $(wildcard $(extensions:%=$(CLIPS)/*.%))

.PHONY: sprites
sprites: $(patsubst $(CLIPS)/%,$(SPRITES)/%.apng,$(basename $(clips)))

define rule
$(SPRITES)/%.apng: $(CLIPS)/%.$(1)
	@mkdir -p $$(@D)
	$(BGREMOVE) remove $$< -o $$@ --canvas-w 128 --canvas-h 128 --anchor bottom --pad 0 --trim --force --quiet
endef
$(foreach extension,$(extensions),$(eval $(call rule,$(extension))))
