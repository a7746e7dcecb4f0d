"""A Hugging Face model, trained with the beam: how numbers are read aloud.

A small BART learns to turn "342" into "three hundred forty two". `BeamSeq2SeqTrainer` is a
`Seq2SeqTrainer` of the package transformers: its loss is the likelihood of the labels and, with a
small weight, the loss along the beams that the model itself finds. What it saves is an ordinary
checkpoint, which `generate` decodes without this library.

Yours is a pretrained model; here it has random weights, so that nothing must be downloaded.
"""

import random
import tempfile
from typing import Any

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    AutoModelForSeq2SeqLM,
    BartConfig,
    BartForConditionalGeneration,
    DataCollatorForSeq2Seq,
    PreTrainedTokenizerFast,
    set_seed,
)

from beamlearn import hf

WORDS = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred
"""
SMALL, TENS = WORDS.split()[:20], WORDS.split()[20:28]


def aloud(number: int) -> str:
    """A number below 1,000 in words."""
    if number < 20:
        return SMALL[number]
    if number < 100:
        return TENS[number // 10 - 2] + (f" {SMALL[number % 10]}" if number % 10 else "")
    rest = f" {aloud(number % 100)}" if number % 100 else ""
    return f"{SMALL[number // 100]} hundred{rest}"


def make_tokenizer() -> PreTrainedTokenizerFast:
    """One token for each digit and each word."""
    tokens = ["<pad>", "</s>", "<unk>", *"0123456789", *WORDS.split()]
    model = models.WordLevel({token: i for i, token in enumerate(tokens)}, unk_token="<unk>")
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Digits(individual_digits=True)]
    )
    special = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]  # theirs to type
        tokenizer_object=tokenizer, **special
    )


def make_model(tokens: int) -> BartForConditionalGeneration:
    sizes: dict[str, Any] = {"d_model": 64, "encoder_ffn_dim": 128, "decoder_ffn_dim": 128}
    layers: dict[str, Any] = {"encoder_layers": 2, "decoder_layers": 2, "init_std": 0.1}
    heads: dict[str, Any] = {"encoder_attention_heads": 4, "decoder_attention_heads": 4}
    special: dict[str, Any] = {"pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0}
    return BartForConditionalGeneration(
        BartConfig(
            vocab_size=tokens,
            dropout=0.0,
            max_position_embeddings=32,
            forced_eos_token_id=None,
            **sizes,
            **layers,
            **heads,
            **special,
        )
    )


def main() -> None:
    torch.set_num_threads(1)  # the tensors are small
    set_seed(0)
    numbers = random.Random(0).sample(range(100, 1000), 700)
    tokenizer = make_tokenizer()

    def example(number: int) -> dict[str, list[int]]:
        source, target = (tokenizer(text)["input_ids"] for text in (str(number), aloud(number)))
        end = tokenizer.eos_token_id
        return {"input_ids": [*source, end], "labels": [*target, end]}

    model = make_model(len(tokenizer))
    with tempfile.TemporaryDirectory() as folder:
        config = hf.BeamSeq2SeqConfig(
            output_dir=folder,
            beam_width=4,
            beam_cost="edit",  # what the beams learn to lower
            beam_start=0,  # from the first step on; by default, in the last third
            learning_rate=2e-3,
            max_steps=150,
            per_device_train_batch_size=32,
            logging_steps=50,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
            use_cpu=True,
        )
        trainer = hf.BeamSeq2SeqTrainer(
            model,
            args=config,
            train_dataset=[example(number) for number in numbers[:500]],
            processing_class=tokenizer,
            data_collator=DataCollatorForSeq2Seq(tokenizer, model),
        )
        trainer.train()
        trainer.save_model()
        plain = AutoModelForSeq2SeqLM.from_pretrained(folder)  # needs no beamlearn

    new = numbers[500:]
    sources = tokenizer([f"{number}</s>" for number in new], return_tensors="pt")
    found = plain.generate(sources["input_ids"], num_beams=4, max_new_tokens=8)
    texts = tokenizer.batch_decode(found, skip_special_tokens=True)
    right = sum(text == aloud(number) for text, number in zip(texts, new, strict=True))
    print(f"Of {len(new)} numbers never seen, {right / len(new):.0%} are read right.")

    print(f"\nThe best outputs for {new[0]}, and their shares of the beam:")
    lists = hf.beam_search(plain, sources["input_ids"][:1], width=3, max_new_tokens=8)
    for way in lists.result.nbest[0]:
        print(f"{way.probability:6.1%}  {tokenizer.decode(way.output, skip_special_tokens=True)}")


if __name__ == "__main__":
    main()
